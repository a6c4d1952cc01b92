import { decode, encode } from '@ag-ui/proto'
import { describe, expect, test } from 'vitest'
import type { Entry } from '../../domain/entry.ts'
import type { RunEvent } from '../../domain/event.ts'
import { createProtobufEncoder } from './protobuf-encoder.ts'

const entry = (seq: number, event: RunEvent): Entry => ({ seq, runId: 'r', kind: 'event', data: JSON.stringify(event) })

function framesOf(chunk: string | Uint8Array | null): unknown[] {
  const bytes = Buffer.from(chunk ?? '')
  const events: unknown[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    events.push(decode(bytes.subarray(at + 4, at + 4 + length)))
    at += 4 + length
  }
  return events
}

const text: RunEvent = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'é', timestamp: 1_731_600_000_000 }
const result: RunEvent = { type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c', content: 'ok', role: 'tool' }
const cancelled: RunEvent = { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'cancelled' } }
const reasoning: RunEvent = { type: 'REASONING_START', messageId: 'm' }

describe('the protobuf encoder', () => {
  test('frames each event with its length', () => {
    const chunk = createProtobufEncoder(encode, '1.x').entries(
      [entry(1, text), entry(2, result), entry(3, cancelled)],
      '',
    )

    expect(framesOf(chunk)).toEqual([text, result, cancelled])
  })

  test('keeps facts to itself', () => {
    const fact: Entry = { seq: 1, runId: 'r', kind: 'fact', data: '{"fact":"run_accepted"}' }

    expect(createProtobufEncoder(encode, '1.x').entries([fact], '')).toBeNull()
  })

  test('leaves out what the binary form of 0.x has no word for', () => {
    const batch = [entry(1, reasoning), entry(2, text), entry(3, result), entry(4, cancelled)]

    expect(framesOf(createProtobufEncoder(encode, '0.x').entries(batch, ''))).toEqual([
      text,
      { type: 'RUN_ERROR', message: 'The run was stopped.', code: 'cancelled' },
    ])
    expect(createProtobufEncoder(encode, '0.x').entries([entry(1, reasoning)], '')).toBeNull()
  })

  test('frames what is made for one reader', () => {
    expect(framesOf(createProtobufEncoder(encode, '1.x').events([text, cancelled]))).toEqual([text, cancelled])
  })
})
