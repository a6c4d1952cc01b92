// The files of a conversation at one step of the model: what it is shown, and whether it can ask for more.

import type { StoredMessage } from '../../domain/message.ts'
import type { RunInput } from '../../domain/run.ts'
import type { Tool } from '../../tools/tool.ts'
import { roomFor } from '../build-request.ts'
import { modelTools } from '../offered-tools.ts'
import type { AgentParts, Lane, RunScope } from '../run-scope.ts'
import { filePartsOf } from './file-parts.ts'
import { createReadFileTool, readFileName } from './read-file-tool.ts'
import { noFiles, type ShownFiles, showFiles } from './show-files.ts'

export interface StepFiles {
  shown: ShownFiles
  /** With the tool that reads files, where there is more to read. */
  tools: ReadonlyMap<string, Tool>
}

/** `limit`: how many messages were asked for. Only the session's own conversation has files. */
export async function stepFiles(
  scope: RunScope,
  lane: Lane,
  agent: AgentParts,
  tools: ReadonlyMap<string, Tool>,
  history: readonly StoredMessage[],
  limit: number,
  input: Pick<RunInput, 'instructions' | 'context'>,
): Promise<StepFiles> {
  const { files } = scope
  const hasParts = history.some((message) => filePartsOf(message).length > 0)
  // A conversation that is short and has no files must not cost a look into the store.
  if (files === null || lane.id !== null || (!hasParts && history.length < limit)) return { shown: noFiles, tools }
  const all = withReadFile(scope, lane, agent, tools)
  const correction = agent.correction.value
  const shown = await showFiles(files, history, {
    takes: agent.definition.model.input ?? [],
    room: roomFor(agent.definition, input, modelTools(all), correction).budget,
    correction,
    pen: lane.pen,
    runId: scope.run.id,
    signal: scope.signal,
    tool: readFileName(tools),
  })
  const newest = history.findLast((message) => message.role === 'user')
  const ids = new Set(newest === undefined ? [] : filePartsOf(newest).map(({ id }) => id))
  const hasMore = shown.isLeftOut || (await files.ofSession()).some((file) => !ids.has(file.id))
  return { shown, tools: hasMore ? all : tools }
}

/** A name of the agent's own wins. */
export function withReadFile(
  { files }: RunScope,
  lane: Lane,
  { definition }: AgentParts,
  tools: ReadonlyMap<string, Tool>,
): ReadonlyMap<string, Tool> {
  if (files === null || lane.id !== null) return tools
  const name = readFileName(tools)
  // A result must leave room for others beside it: a character for each token is a quarter of the window.
  const limit = Math.min(definition.limits.toolResultChars, definition.model.contextWindow)
  return new Map([...tools, [name, createReadFileTool(files, name, limit)]])
}
