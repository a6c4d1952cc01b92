// The files of a conversation in one step: what the model sees of them, and whether it can ask for more.

import type { FileRecord } from '../../domain/session/file.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import type { Tool } from '../../tools/tool.ts'
import { budgetFor, type StepInput } from '../loop/build-request.ts'
import { modelTools } from '../loop/offered-tools.ts'
import type { Lane } from '../run/run-scope.ts'
import { filesText } from './file-text.ts'
import { createReadFileTool, readFileName } from './read-file-tool.ts'
import { filePartsOf } from './run-files.ts'
import { noFiles, type ShownFiles, showFiles } from './show-files.ts'

/** How many of the newest files a sub-agent is told about. */
const MOST_NAMED = 20

/** `isWhole`: the conversation has no messages before `history`. `tools` then has the one that reads files if there is more to read. */
export async function stepFiles(
  lane: Lane,
  tools: ReadonlyMap<string, Tool>,
  history: readonly StoredMessage[],
  isWhole: boolean,
  input: StepInput,
): Promise<{ shown: ShownFiles; tools: ReadonlyMap<string, Tool> }> {
  const { scope, agent } = lane
  const { files } = scope
  if (files === null) return { shown: noFiles, tools }
  if (lane.id !== null) {
    const ofSession = await files.ofSession()
    if (ofSession.length === 0) return { shown: noFiles, tools }
    return { shown: named(ofSession, history, readFileName(tools)), tools: withReadFile(lane, tools) }
  }
  const hasParts = history.some((message) => filePartsOf(message).length > 0)
  // A short conversation without files must not cost a read from the store.
  if (!hasParts && isWhole) return { shown: noFiles, tools }
  const all = withReadFile(lane, tools)
  const correction = agent.correction.value
  const shown = await showFiles(files, history, {
    takes: agent.definition.model.input ?? [],
    budget: budgetFor(agent.definition, input, modelTools(all.values()), correction).budget,
    correction,
    writer: lane.writer,
    runId: scope.run.id,
    signal: scope.signal,
    tool: readFileName(tools),
  })
  const newest = history.findLast((message) => message.role === 'user')
  const ids = new Set(newest === undefined ? [] : filePartsOf(newest).map(({ id }) => id))
  const hasMore = shown.isLeftOut || (await files.ofSession()).some((file) => !ids.has(file.id))
  return { shown, tools: hasMore ? all : tools }
}

/** A sub-agent gets its question as text. After it, the files are listed, and the sub-agent reads those it needs. */
function named(files: readonly FileRecord[], history: readonly StoredMessage[], tool: string): ShownFiles {
  const question = history.find((message) => message.role === 'user')
  if (question === undefined) return noFiles
  const lines = files.slice(-MOST_NAMED).map(({ name, mimeType, bytes }) => ({
    as: 'line' as const,
    name,
    line: `Attached in this conversation (${mimeType}, ${bytes} bytes); read it with ${tool}.`,
    isLeftOut: true,
  }))
  const older = files.length - lines.length
  const more = older === 0 ? '' : `\n\n[${older} older ${older === 1 ? 'file is' : 'files are'} not listed here]`
  const text = filesText(lines, 0, tool).text + more
  return { messages: new Map([[question.id, { text, attachments: [] }]]), isLeftOut: true }
}

/** The agent's own tools keep their names. */
export function withReadFile({ scope, agent }: Lane, tools: ReadonlyMap<string, Tool>): ReadonlyMap<string, Tool> {
  const { files } = scope
  if (files === null) return tools
  const name = readFileName(tools)
  // A result must leave space for others. As many characters as the window has tokens are a quarter of it.
  const { limits, model } = agent.definition
  const limit = Math.min(limits.toolResultChars, model.contextWindow)
  return new Map([...tools, [name, createReadFileTool(files, name, limit)]])
}
