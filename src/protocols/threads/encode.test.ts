import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../domain/session/event.ts'
import { newRun, newSession } from '../../store/contract/samples.contract.ts'
import { createThreadEncoder } from './encode.ts'
import { ThreadEventSchema } from './schema.ts'

const at = 1_800_000_000_000
const shared = { thread_id: 'mine', timestamp: new Date(at).toISOString() }
const brokenOff = { metadata: { quarterdeck: { brokenOff: true } } }

function encode(events: readonly RunEvent[]): unknown[] {
  const session = newSession({ alias: 'mine' })
  const encoder = createThreadEncoder(session, newRun(session.id, { wireId: 'run-1' }))
  return events
    .filter((event) => encoder.reads.has(event.type))
    .flatMap((event) => encoder.encode(event))
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

  test('start a tool when it begins to run here, and none whose arguments broke off', () => {
    const call = (toolCallId: string, metadata: Record<string, unknown>): RunEvent[] => [
      { type: 'TOOL_CALL_START', toolCallId, toolCallName: 'add', timestamp: at },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta: '{"a":1}', timestamp: at },
      { type: 'TOOL_CALL_END', toolCallId, timestamp: at, metadata },
    ]
    const session = newSession({ alias: 'mine' })
    const encoder = createThreadEncoder(session, newRun(session.id))
    const begin = (id: string) =>
      encoder
        .encodeFact({ fact: 'tool_intent', run: 'r', call: id, tool: 'add', effect: 'read', at })
        .map(({ data }) => JSON.parse(data))

    const events = ['c1', 'c2', 'c3'].flatMap((id) => call(id, id === 'c1' ? brokenOff.metadata : { tenant: 'x' }))
    expect(events.flatMap((event) => encoder.encode(event))).toEqual([])
    expect(begin('c1')).toEqual([])
    const start = { event: 'tool_start', ...shared, tool_name: 'add', arguments: { a: 1 } }
    expect(begin('c2')).toEqual([{ ...start, tool_call_id: 'c2' }])
    // Begun again after a crash.
    expect(begin('c2')).toEqual([])
    const subagent: RunEvent = {
      type: 'SUBAGENT_STARTED',
      subagentRunId: 's',
      name: 'adder',
      parentToolCallId: 'c3',
      timestamp: at,
    }
    expect(encoder.encode(subagent).map(({ data }) => JSON.parse(data))).toEqual([{ ...start, tool_call_id: 'c3' }])
  })

  test('measure a tool from its call to its result, and tell a failure from a result', () => {
    const metadata = { quarterdeck: { status: 'error' } }
    const events = encode([
      { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'add', timestamp: at },
      { type: 'TOOL_CALL_END', toolCallId: 'c', timestamp: at },
      { type: 'TOOL_CALL_RESULT', toolCallId: 'c', messageId: 'r', content: 'No.', metadata, timestamp: at + 40 },
      finished({ type: 'success' }),
    ])

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
