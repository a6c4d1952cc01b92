import { decode, encode } from '@ag-ui/proto'
import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../domain/session/entry.ts'
import type { RunEvent } from '../../../domain/session/event.ts'
import { createProtobufEncoder } from './encode-events.ts'

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

  test('tells a 0.x reader no outcome where calls of the client are open', () => {
    const pending: RunEvent = {
      type: 'RUN_FINISHED',
      threadId: 't',
      runId: 'r',
      outcome: { type: 'success', pendingToolCallIds: ['c'] },
    }
    const encoder = createProtobufEncoder(encode, '0.x')

    const bare = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
    expect(framesOf(encoder.entries([entry(1, pending)], ''))).toEqual([bare])
    expect(framesOf(encoder.events([pending]))).toEqual([bare])
  })

  test('frames what is made for one reader', () => {
    expect(framesOf(createProtobufEncoder(encode, '1.x').events([text, cancelled]))).toEqual([text, cancelled])
  })
})

const at = 1_731_600_000_000
const interrupt = {
  id: 'i',
  reason: 'tool_call',
  message: 'Call send',
  toolCallId: 'c',
  responseSchema: { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] },
  expiresAt: '2026-11-15T10:00:00.000Z',
  subagentRunId: 's',
  metadata: { quarterdeck: { arguments: { to: null, cc: [null, 'eve'] } } },
}
/** What a run with tools can say beside text. */
const spoken: RunEvent[] = [
  { type: 'RUN_STARTED', threadId: 't', runId: 'r', parentRunId: 'p', protocolVersion: '1.0', timestamp: at },
  { type: 'CUSTOM', name: 'nothing', value: null, timestamp: at },
  { type: 'CUSTOM', name: 'deep', value: { a: null, b: [null, { c: null }] }, subagentRunId: 's' },
  { type: 'CUSTOM', name: 'PredictState', value: [{ state_key: 'draft', tool: 'write', tool_argument: 'text' }] },
  { type: 'STATE_SNAPSHOT', snapshot: null },
  { type: 'STATE_SNAPSHOT', snapshot: { a: null, b: [1, null] } },
  {
    type: 'STATE_DELTA',
    delta: [
      { op: 'add', path: '/a', value: null },
      { op: 'remove', path: '/b' },
      { op: 'replace', path: '', value: { x: null } },
    ],
  },
  { type: 'ACTIVITY_SNAPSHOT', messageId: 'm', activityType: 'PLAN', content: { steps: [null], done: null } },
  { type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'tutor', description: 'Teaches.', parentToolCallId: 'c' },
  { type: 'SUBAGENT_STARTED', subagentRunId: 's2', name: 'tutor', parentSubagentRunId: 's' },
  { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'send', parentMessageId: 'm', subagentRunId: 's' },
  { type: 'SUBAGENT_FINISHED', subagentRunId: 's', outcome: { type: 'success' } },
  { type: 'SUBAGENT_FINISHED', subagentRunId: 's', outcome: { type: 'suspended' } },
  { type: 'SUBAGENT_FINISHED', subagentRunId: 's', outcome: { type: 'suspended', interruptIds: ['i'] } },
  { type: 'SUBAGENT_ERROR', subagentRunId: 's', message: 'It failed.', code: 'model_failed' },
  {
    type: 'STEP_FINISHED',
    stepName: 'step_1',
    subagentRunId: 's',
    metadata: { quarterdeck: { usage: { provider: 'openai', model: 'gpt', inputTokens: 7, outputTokens: 0 } } },
  },
  { ...result, metadata: { quarterdeck: { status: 'error', durationMs: 0 } } },
  { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success', pendingToolCallIds: ['c'] } },
  { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'interrupt', interrupts: [interrupt] } },
]

test.each(spoken)('$type goes through protobuf unchanged: %j', (event) => {
  expect(framesOf(createProtobufEncoder(encode, '1.x').entries([entry(1, event)], ''))).toEqual([event])
})
