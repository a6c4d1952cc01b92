import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isTerminalText, plainTextEvent, type RunEvent } from './event.ts'

const textOf = (event: object): string => JSON.stringify(event)

describe('plainTextEvent', () => {
  const plain = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'Hello', timestamp: 1763164800000 }

  test('reads the same as the parser, or leaves the event to the parser', () => {
    const string = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('","timestamp":1', '","delta":"', '\\', '"'),
    )
    fc.assert(
      fc.property(
        string,
        string,
        fc.integer(),
        fc.dictionary(string, fc.jsonValue(), { maxKeys: 1 }),
        (id, delta, at, more) => {
          for (const event of [
            { ...plain, messageId: id, delta, timestamp: at },
            { ...plain, messageId: id, delta, ...more, timestamp: at },
            { ...plain, messageId: id, delta, timestamp: at, ...more },
          ]) {
            const text = textOf(event)
            const read = plainTextEvent(text)
            if (read !== null) expect(read).toEqual(JSON.parse(text))
          }
        },
      ),
    )
  })

  test('reads the tokens of an answer without the parser', () => {
    for (const delta of ['Hello', '', 'ü ⚓ 𝕏', '{},:', '\u2028']) {
      expect(plainTextEvent(textOf({ ...plain, delta }))).toEqual({ ...plain, delta })
    }
  })

  test('leaves events that are not plain to the parser', () => {
    const { timestamp, ...timeless } = plain
    for (const event of [
      { ...plain, delta: 'a"b' },
      { ...plain, delta: 'a\nb' },
      { ...plain, messageId: 'm"1' },
      { ...plain, subagentRunId: 's' },
      { ...timeless, subagentRunId: 's', timestamp },
      { ...timeless, timestamp: 1.5 },
      timeless,
      { ...plain, type: 'REASONING_MESSAGE_CONTENT' },
      { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant', timestamp },
    ]) {
      expect([event, plainTextEvent(textOf(event))]).toEqual([event, null])
    }
  })
})

test('a terminal event is recognised by its text', () => {
  const types: [RunEvent['type'], boolean][] = [
    ['RUN_FINISHED', true],
    ['RUN_ERROR', true],
    ['RUN_STARTED', false],
    ['SUBAGENT_FINISHED', false],
    ['TEXT_MESSAGE_CONTENT', false],
    ['REASONING_START', false],
  ]
  expect(types.map(([type]) => [type, isTerminalText(textOf({ type }))])).toEqual(types)
})
