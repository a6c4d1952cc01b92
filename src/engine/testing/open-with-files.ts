// An engine with files that a test makes up. It records what the model was told about them.

import { type Logger, silentLogger } from '../../domain/logger.ts'
import { present } from '../../domain/present.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import type { Extract, FileRecord, FileType } from '../../domain/session/file.ts'
import type { ContentPart } from '../../domain/session/message.ts'
import type { FinishReason, Model, ModelMessage, ModelPart, ModelRequest } from '../../models/model.ts'
import type { ScriptedOptions } from '../../models/scripted/scripted.ts'
import type { Files } from '../files-port.ts'
import type { AcceptedRun } from '../ports/runs.ts'
import { openEngine, type TestEngineOptions, testAgent, userInput } from './open-engine.ts'

interface Kept {
  /** What reading it gives or throws. */
  content: Extract | Error
  bytes: Buffer
}

export const PDF = 'application/pdf'
export const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

export const text = (content: string): Extract => ({ sections: [{ label: '', text: content }], notes: [] })
export const pages = (count: number, size: number): Extract => ({
  sections: Array.from({ length: count }, (_, index) => ({
    label: `page ${index + 1}`,
    text: `This is page ${index + 1}. ${'Words and words. '.repeat(Math.ceil(size / 17))}`.slice(0, size),
  })),
  notes: [],
})

export interface FilesOptions extends Pick<TestEngineOptions, 'agent' | 'tools' | 'model' | 'others' | 'rules'> {
  answers?: ScriptedOptions['answers']
  input?: ('text' | 'image' | 'pdf')[]
  contextWindow?: number
}

export function openWithFiles(options: FilesOptions = {}) {
  const kept = new Map<string, Kept>()
  const reads: string[] = []
  const unreadWanted: ('all' | readonly string[])[] = []
  const requests: ModelRequest[] = []
  const warnings: string[] = []
  const keep = (message: string) => void warnings.push(message)
  const logger: Logger = { ...silentLogger, warn: keep, error: keep, with: () => logger }
  const kept_ = (file: FileRecord): Kept => {
    const found = kept.get(file.id)
    if (found === undefined) throw new Error('no such file')
    return found
  }
  const files: Files = {
    async read(file, signal, onProgress, wanted) {
      signal.throwIfAborted()
      reads.push(file.name)
      const { content } = kept_(file)
      if (content instanceof Error) throw content
      const total = content.sections.length
      for (let done = 1; done < total; done += 1) onProgress?.(done, total)
      if (content.unread === undefined || wanted === undefined) return content
      unreadWanted.push(wanted)
      // There is never enough time to read all of them.
      const unread = content.unread.filter((label) => wanted === 'all' || !wanted.includes(label))
      return { ...content, unread }
    },
    bytes: async (file) => kept_(file).bytes,
    async shrink(file) {
      const { content } = kept_(file)
      if (content instanceof Error) throw content
      return Buffer.from(`smaller ${file.name}`)
    },
  }
  const { input, contextWindow, agent, ...others } = options
  const server = openEngine({
    ...others,
    files,
    logger,
    agent: { model: { ...testAgent.model, ...present({ input, contextWindow }) }, ...agent },
    onRequest: (request) => requests.push(request),
  })

  /** Uploads a file, as a door does. */
  async function add(
    name: string,
    mimeType: FileType,
    content: Extract | Error,
    bytes: Buffer = Buffer.from(name),
    owner = 'local_user',
  ) {
    const record: FileRecord = {
      id: server.ids.uuid(),
      owner,
      sessionId: null,
      name,
      mimeType,
      bytes: bytes.length,
      sha256: 'f'.repeat(64),
      createdAt: server.clock.now(),
    }
    kept.set(record.id, { content, bytes })
    await server.log.commit({ type: 'add_file', file: record })
    return record
  }

  /** Sends a message with files and waits for the end of its run. */
  async function say(words: string, attached: readonly FileRecord[] = [], known: AcceptedRun | null = null) {
    const content: ContentPart[] = [
      ...(words === '' ? [] : [{ type: 'text' as const, text: words }]),
      ...attached.map((file) => partOf(file)),
    ]
    const accepted = await server.engine.runs.start({
      owner: 'local_user',
      agent: null,
      session: known === null ? { create: { alias: 'thread' } } : { existing: known.session },
      origin: 'background',
      files: attached.map(({ id }) => id),
      input: { ...userInput('', ''), messages: [{ id: server.ids.uuid(), role: 'user', content }] },
    })
    return { accepted, events: await server.events(accepted) }
  }

  return { ...server, add, say, reads, unreadWanted, requests, warnings, kept }
}

export const partOf = ({ id, name, mimeType }: FileRecord): ContentPart => ({
  type: mimeType.startsWith('image/') ? 'image' : 'document',
  source: { type: 'file', value: id, mimeType },
  metadata: { filename: name },
})

/** A model that calls `read_file` as long as it has something to ask. */
export const modelOf = (ask: (messages: readonly ModelMessage[]) => object | null): Model => ({
  provider: 'test',
  name: 'reader',
  check: async () => {},
  async stream({ messages }, _, take) {
    const args = ask(messages)
    if (args === null) await take([{ type: 'text', delta: 'Done.' }, finish('stop')])
    else
      await take([
        { type: 'tool_call_start', id: '1', name: 'read_file' },
        { type: 'tool_call_args', id: '1', delta: JSON.stringify(args) },
        { type: 'tool_call_end', id: '1' },
        finish('tool_calls'),
      ])
  },
})
const finish = (reason: FinishReason): ModelPart => ({ type: 'finish', reason })

export const users = (request: ModelRequest | undefined): ModelMessage[] =>
  request?.messages.filter((message) => message.role === 'user') ?? []
export const toolNames = (request: ModelRequest | undefined): string[] => request?.tools.map(({ name }) => name) ?? []
export const activities = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'ACTIVITY_SNAPSHOT' ? [event] : []))
export const base64 = (content: string): string => Buffer.from(content).toString('base64')
export const results = (events: readonly RunEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'TOOL_CALL_RESULT' ? [String(event.content)] : []))
