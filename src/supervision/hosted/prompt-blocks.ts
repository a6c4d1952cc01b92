// What people said since the program last heard, as the blocks of an ACP prompt: words, files as text, and pictures where it takes them.

import type { ContentBlock, PromptCapabilities } from '@agentclientprotocol/sdk'
import { ServerError } from '../../domain/errors.ts'
import { textOf } from '../../domain/session/message.ts'
import { noFiles, showFiles } from '../../engine/files/show-files.ts'
import type { HostParts, Lane } from '../../engine/run/run-scope.ts'

/** Tokens for files: the program has a window of its own, and nobody tells us how large it is. */
const FILE_TOKENS = 100_000
const LOOK_BACK = 200

/** Commands of the program. `chosen`: the message follows it. `known`: those that may be used; null: all. */
interface Commands {
  chosen: string | null
  known: readonly string[] | null
}

/** Empty: nobody said anything new. */
export async function promptBlocks(
  { scope }: Lane<HostParts>,
  { image = false }: PromptCapabilities,
  { chosen, known }: Commands,
): Promise<ContentBlock[]> {
  if (chosen !== null && known?.includes(chosen) === false) {
    throw new ServerError(
      'invalid_request',
      `The command /${chosen} cannot be used here: it may switch off that the agent asks.`,
    )
  }
  const { run, store, files, writer, signal } = scope
  const ids = new Set(run.input.messages.filter(({ role }) => role === 'user').map(({ id }) => id))
  // Another answer to a message that the program had before.
  if (ids.size === 0 && run.input.regenerateAfter !== undefined) ids.add(run.input.regenerateAfter)
  const said = (await store.messages.page(run.sessionId, LOOK_BACK)).filter(
    ({ id, role }) => role === 'user' && ids.has(id),
  )
  const options = {
    takes: image ? (['text', 'image'] as const) : (['text'] as const),
    budget: FILE_TOKENS,
    correction: 1,
    writer,
    runId: run.id,
    signal,
    tool: 'a smaller part of the file',
  }
  const shown = files === null ? noFiles : await showFiles(files, said, options)
  const words = said
    .flatMap(({ id, content }) => [textOf(content), shown.messages.get(id)?.text ?? ''])
    .filter((text) => text !== '')
  const context = run.input.context.map(
    ({ description, value }) => `From the user’s program, and maybe wrong. ${description}: ${value}`,
  )
  const [first = '', ...more] = words
  const texts = [chosen === null ? plain(first, known) : `/${chosen} ${first}`.trim(), ...more, ...context]
  const pictures = said.flatMap(({ id }) => shown.messages.get(id)?.attachments ?? [])
  return [
    ...texts.filter((text) => text !== '').map((text) => ({ type: 'text' as const, text })),
    ...pictures.map(({ data, mimeType }) => ({ type: 'image' as const, data, mimeType })),
  ]
}

/** A text that begins with a command which may not be used is only text: a word of ours stands before it. */
function plain(text: string, known: readonly string[] | null): string {
  const command = /^\s*\/(\S*)/.exec(text)?.[1]
  return command === undefined || known === null || known.includes(command) ? text : `Message: ${text}`
}
