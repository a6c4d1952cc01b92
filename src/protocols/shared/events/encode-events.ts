import type { BaseEvent } from '@ag-ui/core'
import type { Entry } from '../../../domain/entry.ts'
import type { RunEvent, RunEventType } from '../../../domain/event.ts'
import { sseFrame } from '../../../http/sse.ts'
import { downgrade, downgradeEvent } from './downgrade.ts'
import type { Reader } from './protocol-version.ts'

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
