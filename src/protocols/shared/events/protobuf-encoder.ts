import type { BaseEvent } from '@ag-ui/core'
import type { RunEvent, RunEventType } from '../../../domain/event.ts'
import { downgradeEvent } from './downgrade.ts'
import type { EventEncoder } from './encoder.ts'
import type { Reader } from './protocol-version.ts'

/** `encode` of `@ag-ui/proto`, which is loaded only when somebody asks for protobuf. */
export type EncodeEvent = (event: BaseEvent) => Uint8Array

/** AG-UI's binary binding: each event is its length as uint32, big-endian, and its bytes. */
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

// The binary form of 0.x has no word for these, and its reader fails the whole run at a word it does not know.
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
