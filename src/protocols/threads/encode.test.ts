import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../domain/event.ts'
import { newRun, newSession } from '../../store/contract/samples.contract.ts'
import { createThreadEncoder } from './encode.ts'
import { ThreadEventSchema } from './schema.ts'

const at = 1_800_000_000_000
const shared = { thread_id: 'mine', timestamp: new Date(at).toISOString() }
const brokenOff = { metadata: { quarterdeck: { brokenOff: true } } }

function encode(events: readonly RunEvent[], failed: readonly string[] = []): unknown[] {
  const session = newSession({ alias: 'mine' })
  const encoder = createThreadEncoder(session, newRun(session.id, { wireId: 'run-1' }))
  return events
    .filter((event) => encoder.reads.has(event.type))
    .flatMap((event) => encoder.encode(event, (id) => failed.includes(id)))
    .map(({ event, data }) => (event === undefined ? ThreadEventSchema.parse(JSON.parse(data)) : event))
}

const say = (messageId: string, delta: string): RunEvent => ({
  type: 'TEXT_MESSAGE_CONTENT',
  messageId,
  delta,
  timestamp: at,
})
const finished = (outcome: Extract<RunEvent, { type: 'RUN_FINISHED' }>['outcome']): RunEvent => ({
  type: 'RUN_FINISHED',
  threadId: 'mine',
  runId: 'run-1',
  ...(outcome === undefined ? {} : { outcome }),
  timestamp: at,
})
const message = (content: string, values = {}) => ({
  role: 'assistant',
  content,
  timestamp: shared.timestamp,
  tool_calls: null,
  metadata: {},
  ...values,
})

describe('the events of a thread', () => {
  test('say of a run that waits what it waits for', () => {
    const interrupts = [{ id: 'approval-1', reason: 'approval' }]

    expect(encode([say('m', 'May I?'), finished({ type: 'interrupt', interrupts })])).toEqual([
      { event: 'token', ...shared, token: 'May I?' },
      {
        event: 'message_complete',
        ...shared,
        message: message('May I?'),
        status: 'waiting',
        run_id: 'run-1',
        approval_ids: ['approval-1'],
      },
    ])
  })

  test('leave out of the message what a crash cut off and a later step said again', () => {
    const events = encode([
      say('m1', 'It is '),
      { type: 'TEXT_MESSAGE_END', messageId: 'm1', timestamp: at, ...brokenOff },
      say('m2', 'It is 3.'),
      { type: 'TEXT_MESSAGE_END', messageId: 'm2', timestamp: at },
      finished({ type: 'success' }),
    ])

    expect(events.at(-1)).toEqual({ event: 'message_complete', ...shared, message: message('It is 3.') })
  })

  test('do not start a tool whose arguments broke off, and do start one that middleware has marked', () => {
    const call = (toolCallId: string, metadata: Record<string, unknown>): RunEvent[] => [
      { type: 'TOOL_CALL_START', toolCallId, toolCallName: 'add', timestamp: at },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta: '{"a":1}', timestamp: at },
      { type: 'TOOL_CALL_END', toolCallId, timestamp: at, metadata },
    ]

    expect(encode([...call('c1', brokenOff.metadata), ...call('c2', { tenant: 'x' })])).toEqual([
      { event: 'tool_start', ...shared, tool_call_id: 'c2', tool_name: 'add', arguments: { a: 1 } },
    ])
  })

  test('measure a tool from its call to its result, and tell a failure from a result', () => {
    const events = encode(
      [
        { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'add', timestamp: at },
        { type: 'TOOL_CALL_END', toolCallId: 'c', timestamp: at },
        { type: 'TOOL_CALL_RESULT', toolCallId: 'c', messageId: 'r', content: 'No.', timestamp: at + 40 },
        finished({ type: 'success' }),
      ],
      ['r'],
    )

    const failure = { tool_name: 'add', error: 'No.', execution_time_ms: 40 }
    expect(events.slice(1)).toEqual([
      {
        event: 'tool_end',
        ...shared,
        timestamp: new Date(at + 40).toISOString(),
        tool_call_id: 'c',
        result: null,
        ...failure,
      },
      {
        event: 'message_complete',
        ...shared,
        message: message(' ', { metadata: { empty: true }, tool_calls: [{ ...failure, arguments: {} }] }),
      },
    ])
  })

  test('hide the code of an error that is not ours', () => {
    expect(encode([{ type: 'RUN_ERROR', message: 'Odd.', code: 'E_ODD', timestamp: at }])).toEqual([
      { event: 'error', ...shared, error_type: 'internal', error_message: 'Odd.', recoverable: false },
    ])
  })
})
