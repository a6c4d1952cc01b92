import { expect, test } from 'vitest'
import type { NewEntry } from '../ports/journal.ts'
import { packLines, unpackRow } from './packed-rows.ts'

const event = (data: unknown): NewEntry => ({ kind: 'event', data: JSON.stringify(data) })

/** Makes the events of text that came at one moment, as `run-writer.ts` does. */
function textAt(timestamp: number, messageId = 'm1'): (delta: string) => NewEntry {
  const frame = {
    start: `{"type":"TEXT_MESSAGE_CONTENT","messageId":"${messageId}","delta":`,
    end: `,"timestamp":${timestamp}}`,
  }
  return (delta) => {
    const text = JSON.stringify(delta)
    return { kind: 'event', data: frame.start + text + frame.end, frame, text }
  }
}

const at5 = textAt(5)
const at6 = textAt(6)

test('text in the frame of the last whole event is that text alone', () => {
  expect(packLines([at5('Hel'), at5('lo "you"'), at5(''), at6('!')]).split('\n')).toEqual([
    at5('Hel').data,
    '"lo \\"you\\""',
    '""',
    at6('!').data,
  ])
})

test('entries of every shape are read back as they were', () => {
  const entries = [
    at5('one'),
    at5('two'),
    { kind: 'fact' as const, data: '{"fact":"step_finished"}' },
    at5('three'),
    at5('","delta":"'),
    at5('","timestamp":5}'),
    at5('line\nbreak'),
    textAt(5, 'm2')('four'),
    at5('five'),
    event({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'six', subagentRunId: 's', timestamp: 5 }),
    at5('seven'),
    event({ type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: 1 }], timestamp: 5 }),
    event({ type: 'RUN_FINISHED', threadId: 't', runId: 'r' }),
    at6('eight'),
    at6('nine'),
  ]

  expect(unpackRow(7, 'r1', packLines(entries), null)).toEqual(
    entries.map(({ kind, data }, i) => ({ seq: 7 + i, runId: 'r1', kind, data })),
  )
  expect(
    packLines(entries)
      .split('\n')
      .filter((line) => line.startsWith('"')),
  ).toHaveLength(6)
})
