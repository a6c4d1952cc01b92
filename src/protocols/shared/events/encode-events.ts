import { type BaseEvent, contentToText } from '@ag-ui/core'
import { ServerError } from '../../../domain/errors.ts'
import type { Entry } from '../../../domain/session/entry.ts'
import { type RunEvent, type RunEventOf, type RunEventType, typeOfEventText } from '../../../domain/session/event.ts'
import { isBrokenOff } from '../../../domain/session/run-answer.ts'
import { sseFrame } from '../../../http/sse.ts'

/** Encodes events for one reader. What was committed together becomes one chunk, and so one write. */
export interface EventEncoder {
  /** Encodes entries of the session with this ULID. Null if there is nothing to send: facts are not sent. */
  entries(batch: readonly Entry[], sessionUlid: string): string | Uint8Array | null
  /** Encodes events that are made for this reader only. They are not stored and have no id. */
  events(events: readonly RunEvent[]): string | Uint8Array
}

/**
 * Server-sent events. A 1.x reader gets the stored text unchanged.
 *
 * This is the hot path, so entries do not go through `sseFrame`. Its checks cannot fail for our ids and for stored JSON text, which
 * never contains a raw line break.
 */
export function createSseEncoder(reader: Reader): EventEncoder {
  const old = reader === '0.x'
  return {
    entries(batch, sessionUlid) {
      let chunk = ''
      for (const { seq, kind, data } of batch) {
        if (kind === 'event') chunk += `id: ${sessionUlid}.${seq}\ndata: ${old ? downgrade(data) : data}\n\n`
      }
      return chunk === '' ? null : chunk
    },
    events: (events) =>
      events.map((event) => sseFrame({ data: JSON.stringify(old ? downgradeEvent(event) : event) })).join(''),
  }
}

/** `encode` of `@ag-ui/proto`, which is loaded only when a client asks for protobuf. */
type EncodeEvent = (event: BaseEvent) => Uint8Array

/** AG-UI's binary format: for each event its length as a big-endian uint32, then its bytes. */
export function createProtobufEncoder(encode: EncodeEvent, reader: Reader): EventEncoder {
  function frames(events: readonly RunEvent[]): Uint8Array {
    const readable = reader === '1.x' ? events : events.filter(hasOldForm).map(downgradeEvent)
    return Buffer.concat(readable.map((event) => frame(encode(event as BaseEvent))))
  }
  return {
    entries(batch) {
      const chunk = frames(batch.flatMap(({ kind, data }) => (kind === 'event' ? [JSON.parse(data)] : [])))
      return chunk.length === 0 ? null : chunk
    },
    events: frames,
  }
}

function frame(bytes: Uint8Array): Uint8Array {
  const framed = Buffer.allocUnsafe(4 + bytes.length)
  framed.writeUInt32BE(bytes.length, 0)
  framed.set(bytes, 4)
  return framed
}

// The binary format of 0.x does not have these events, and its reader fails the whole run at an unknown event.
const NEW_IN_1: ReadonlySet<RunEventType> = new Set<RunEventType>([
  'TOOL_CALL_RESULT',
  'ACTIVITY_SNAPSHOT',
  'ACTIVITY_DELTA',
  'REASONING_START',
  'REASONING_MESSAGE_START',
  'REASONING_MESSAGE_CONTENT',
  'REASONING_MESSAGE_END',
  'REASONING_END',
  'REASONING_ENCRYPTED_VALUE',
  'SUBAGENT_STARTED',
  'SUBAGENT_FINISHED',
  'SUBAGENT_ERROR',
])

const hasOldForm = (event: RunEvent): boolean => !NEW_IN_1.has(event.type)

// Rewrites stored events for 0.x clients. They reject the whole run because of an unknown shape, so these few shapes are rewritten.
// Everything else is sent as stored. Pure.

/** The text of an event for a 0.x reader. It is the stored text if 0.x can read that. */
export function downgrade(text: string): string {
  switch (typeOfEventText(text)) {
    case 'RUN_STARTED':
    case 'RUN_FINISHED':
    case 'TOOL_CALL_RESULT':
    case 'MESSAGES_SNAPSHOT':
      return JSON.stringify(downgradeEvent(JSON.parse(text)))
    default:
      return text
  }
}

function downgradeEvent(event: RunEvent): RunEvent {
  switch (event.type) {
    case 'RUN_STARTED':
      return event.input === undefined ? event : { ...event, input: oldInput(event.input) }
    case 'RUN_FINISHED':
      return oldOutcome(event)
    case 'TOOL_CALL_RESULT':
      return { ...event, content: contentToText(event.content) }
    case 'MESSAGES_SNAPSHOT':
      return { ...event, messages: event.messages.map(oldMessage) }
    default:
      return event
  }
}

function oldOutcome(event: RunEventOf<'RUN_FINISHED'>): RunEvent {
  const { outcome, ...rest } = event
  switch (outcome?.type) {
    case 'success':
      // Without an outcome a 0.x client looks for open calls itself. After a success, assistant-ui would never send their results.
      return outcome.pendingToolCallIds?.length ? rest : { ...rest, outcome: { type: 'success' } }
    case 'cancelled': {
      // 0.x has no cancelled runs. Without an outcome the run would count as a success.
      const { threadId: _thread, runId: _run, result: _result, ...shared } = rest
      return { ...shared, type: 'RUN_ERROR', message: 'The run was stopped.', code: 'cancelled' }
    }
    default:
      return event
  }
}

type Input = NonNullable<RunEventOf<'RUN_STARTED'>['input']>
type Message = RunEventOf<'MESSAGES_SNAPSHOT'>['messages'][number]

// 0.x requires both lists.
const oldInput = (input: Input): Input => ({
  ...input,
  messages: input.messages.map(oldMessage),
  tools: input.tools ?? [],
  context: input.context ?? [],
})

function oldMessage(message: Message): Message {
  if (message.role === 'assistant' && isBrokenOff(message.metadata)) {
    // 0.x clients do not show metadata.
    return { ...message, content: `${message.content ?? ''}\n\n*(This answer broke off.)*`.trimStart() }
  }
  if (message.role === 'tool') return { ...message, content: contentToText(message.content) }
  if (message.role !== 'user' || typeof message.content === 'string') return message
  return { ...message, content: message.content.filter((part) => part.type === 'text' || part.source.type !== 'file') }
}

/** The AG-UI version that a client can read. `0.x` clients reject some shapes of 1.0; `downgrade` leaves those out. */
export type Reader = '0.x' | '1.x'

/**
 * The reader for an input's `protocolVersion`. Absent means 0.x. A newer minor version or an unreadable value means 1.x, as the
 * specification asks. Another major version is refused before the run.
 */
export function readerOf(protocolVersion: string | undefined): Reader {
  if (protocolVersion === undefined) return '0.x'
  const major = /^(\d{1,9})\.\d{1,9}$/.exec(protocolVersion)?.[1]
  if (major === undefined || Number(major) === 1) return '1.x'
  if (Number(major) === 0) return '0.x'
  const detail = 'This server speaks AG-UI 1.0 and reads 0.x; send "1.0" or leave it out.'
  throw new ServerError('invalid_request', `AG-UI ${protocolVersion} is not supported. ${detail}`, {
    problems: [{ pointer: '/protocolVersion', detail }],
  })
}
