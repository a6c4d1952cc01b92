// Events for people who look at a session: without the secrets that an approval's card masks too. Client programs that run a session's
// tools get events as they are stored.

import { isRecord } from '../../../domain/is-record.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import type { Entry } from '../../../domain/session/entry.ts'
import { typeOfEventText } from '../../../domain/session/event.ts'
import { createJsonMask } from '../../../domain/text/masked-json.ts'
import { looksSecret, MASKED } from '../../../domain/text/secret-name.ts'
import type { Runs } from '../../../engine/ports/runs.ts'
import type { Sessions } from '../../../engine/ports/sessions.ts'

type Mask = ReturnType<typeof createJsonMask>

interface ArgumentsEvent {
  toolCallId: string
  delta: string
}

/** How much is read at once to find the beginning of a call. */
const LOOK = { limit: 500, maxChars: 256 * 1024 }

/** Masks entries of one session, in the order of its log. */
export function createMaskEntries(sessions: Pick<Sessions, 'readLog'>, sessionId: string) {
  /** The calls whose arguments are on their way. */
  const calls = new Map<string, Mask>()

  async function maskEntry(entry: Entry): Promise<Entry> {
    if (entry.kind !== 'event') return entry
    switch (typeOfEventText(entry.data)) {
      // What people and models say comes by the thousand, and has no names.
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
        return entry
      case 'TOOL_CALL_ARGS': {
        const event: ArgumentsEvent = JSON.parse(entry.data)
        const mask = calls.get(event.toolCallId) ?? (await maskFrom(entry, event))
        calls.set(event.toolCallId, mask)
        return { ...entry, data: JSON.stringify({ ...event, delta: mask(event.delta) }) }
      }
    }
    const event: { type: string; toolCallId?: unknown } = JSON.parse(entry.data)
    if (event.type === 'TOOL_CALL_START') calls.set(String(event.toolCallId), createJsonMask())
    if (event.type === 'TOOL_CALL_END') calls.delete(String(event.toolCallId))
    return { ...entry, data: JSON.stringify(withoutSecrets(event)) }
  }

  /** A reader may begin in the middle of a call. Its secrets may have begun before that. */
  async function maskFrom({ seq }: Entry, { toolCallId, delta }: ArgumentsEvent): Promise<Mask> {
    const mask = createJsonMask()
    const start = await startOf(toolCallId, seq)
    if (start === null) return () => ''
    let text = ''
    for (let after: number | null = start; after !== null && after < seq; ) {
      const page = await sessions.readLog(sessionId, { ...LOOK, from: { after }, structure: false })
      for (const one of page.events) {
        if (one.seq > seq || typeOfEventText(one.data) !== 'TOOL_CALL_ARGS') continue
        const event: ArgumentsEvent = JSON.parse(one.data)
        if (event.toolCallId === toolCallId) text += event.delta
      }
      after = page.next
    }
    // Pieces that were joined since are one event, and `delta` is the end of it that the reader asked for.
    mask(text.slice(0, text.length - delta.length))
    return mask
  }

  async function startOf(toolCallId: string, seq: number): Promise<number | null> {
    for (let before: number | null = seq; before !== null; ) {
      const page = await sessions.readLog(sessionId, { ...LOOK, from: { before }, structure: true })
      const start = page.events.findLast(
        ({ data }) => typeOfEventText(data) === 'TOOL_CALL_START' && JSON.parse(data).toolCallId === toolCallId,
      )
      if (start !== undefined) return start.seq
      before = page.next
    }
    return null
  }

  return async (entries: readonly Entry[]): Promise<Entry[]> => {
    const masked: Entry[] = []
    for (const entry of entries) masked.push(await maskEntry(entry))
    return masked
  }
}

interface MaskedEngine {
  runs: Pick<Runs, 'follow'>
  sessions: Pick<Sessions, 'readLog'>
}

/** Follows a session as `runs.follow` does, without its secrets. */
export const createMaskedFollow = ({ runs, sessions }: MaskedEngine): Runs['follow'] =>
  async function* (target, signal) {
    const mask = createMaskEntries(sessions, target.sessionId)
    for await (const entries of runs.follow(target, signal)) yield await mask(entries)
  }

/**
 * Any event, with secrets masked at every depth, also where arguments or the result of a tool are JSON in a text (the answer of
 * `approve_tool` repeats the arguments) and where a patch names a secret.
 */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!isRecord(value)) return value
  const isPatch = typeof value.path === 'string' && looksSecret(value.path)
  const isResult = value.role === 'tool' || value.type === 'TOOL_CALL_RESULT'
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      if (looksSecret(name) || (isPatch && name === 'value')) return [name, MASKED]
      const isJson =
        typeof one === 'string' && (name === 'arguments' || (isResult && name === 'content' && holdsNames(one)))
      return [name, isJson ? createJsonMask()(one) : withoutSecrets(one)]
    }),
  )
}

/** Whether a text is a list or an object. Other text has no names, and is shown as it is. */
const holdsNames = (text: string): boolean => /^\s*[[{]/.test(text) && jsonIn(text) !== undefined
