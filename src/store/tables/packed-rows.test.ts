import { expect, test } from 'vitest'
import type { NewEntry } from '../ports/journal.ts'
import { packLines, unpackRow } from './packed-rows.ts'

const event = (data: unknown): NewEntry => ({
  kind: 'event',
  data: typeof data === 'string' ? data : JSON.stringify(data),
})
const token = (delta: string, timestamp = 5, messageId = 'm1'): NewEntry =>
  event({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta, timestamp })

test('a token that differs from the last whole event only in its delta is the delta alone', () => {
  expect(packLines([token('Hel'), token('lo "you"'), token(''), token('!', 6)]).split('\n')).toEqual([
    token('Hel').data,
    '"lo \\"you\\""',
    '""',
    token('!', 6).data,
  ])
})

test('entries of every shape are read back as they were', () => {
  const start = '{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"'
  const entries = [
    token('one'),
    token('two'),
    { kind: 'fact' as const, data: '{"fact":"step_finished"}' },
    token('three'),
    token('","delta":"', 5),
    token('","timestamp":5}', 5),
    token('line\nbreak', 5),
    token('four', 5, 'm2'),
    token('five', 5, 'm1'),
    event({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'six', subagentRunId: 's', timestamp: 5 }),
    event({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'seven', subagentRunId: 's', timestamp: 5 }),
    event({ type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{"a":', timestamp: 5 }),
    event({ type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '1}', timestamp: 5 }),
    event({ type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: 1 }], timestamp: 5 }),
    event({ type: 'STATE_DELTA', delta: [], timestamp: 5 }),
    event({ type: 'RUN_FINISHED', threadId: 't', runId: 'r' }),
    // Nobody writes these two, but what is stored is given back unread.
    token('eight'),
    event(`${start},"timestamp":5}`),
  ]

  expect(unpackRow(7, 'r1', packLines(entries), null)).toEqual(
    entries.map((entry, i) => ({ seq: 7 + i, runId: 'r1', ...entry })),
  )
})
