import type { ShownApproval } from 'quarterdeck/client'
import { describe, expect, test } from 'vitest'
import { ALL_SEEN, NOTHING_SEEN } from '../seen/seen.ts'
import { changesSince, DIFF, manyArguments, partsOf, questionText, withSeen } from './approval-parts.ts'

const argument = (name: string, text: string, more: object = {}) => ({
  ...{ name, text, json: false, secret: false, hidden: 0, bytes: text.length, cut: null },
  ...more,
})
const call = (args: ReturnType<typeof argument>[], more: object = {}): ShownApproval =>
  ({
    ...{ kind: 'tool_call', tool: 'send_mail', title: 'send_mail: runs it', description: 'to: bob', change: null },
    ...{ preview: null, question: null, shown: { arguments: args, warnings: [] } },
    ...more,
  }) as unknown as ShownApproval

describe('what has to be looked at', () => {
  test('of a call are its arguments and what the tool shows', () => {
    const cut = argument('body', 'abc', { bytes: 1_000, cut: { shown_bytes: 3, sha256: 'x' } })
    expect(partsOf(call([argument('to', 'bob'), cut], { preview: 'A mail' }))).toEqual([
      { name: 'to', bytes: 3, loadedBytes: 3 },
      { name: 'body', bytes: 1_000, loadedBytes: 3 },
      { name: 'the preview', bytes: 6, loadedBytes: 6 },
    ])
  })

  test('of a call with thousands of arguments is one text with all of them', () => {
    const many = call(Array.from({ length: 5_000 }, (_, i) => argument(`a${i}`, 'x')))
    expect(partsOf(many)).toEqual([{ name: 'the arguments', bytes: 5_000, loadedBytes: 5_000 }])
    expect(manyArguments(many.shown)?.split('\n').at(-1)).toBe('a4999: x')
    expect(manyArguments(call([argument('to', 'bob')]).shown)).toBe(null)
  })

  test('of a change is its diff, and not the way it was asked for', () => {
    const change = call([argument('diff', 'x')], { kind: 'diff', shown_diff: '--- a\n+++ b' })
    expect(partsOf(change)).toEqual([{ name: DIFF, bytes: 11, loadedBytes: 11 }])
  })

  test('of a question are the words of the tool, without what the answer may be', () => {
    const question = call([], {
      kind: 'question',
      question: { message: 'Which size?\nQuick.', schema: {} },
      description: 'Which size?\nQuick.\nAnswer with these fields:\n  size: a text',
    })
    expect(questionText(question)).toBe('Which size?\nQuick.')
    expect(partsOf(question).map(({ bytes }) => bytes)).toEqual([18])
  })

  test('counts as not seen until it was', () => {
    const parts = partsOf(call([argument('to', 'bob'), argument('cc', 'eve')]))
    expect(withSeen(parts, new Map([['to', ALL_SEEN]])).map(({ seen }) => seen)).toEqual([ALL_SEEN, NOTHING_SEEN])
  })
})

test('a question that was asked again says which arguments are different', () => {
  const before = call([argument('to', 'bob'), argument('cc', 'eve')])
  const after = call([argument('to', 'ada'), argument('cc', 'eve'), argument('bcc', 'x')])
  expect(changesSince(before, after)).toEqual([
    { name: 'to', before: 'bob', after: 'ada' },
    { name: 'bcc', before: null, after: 'x' },
  ])
})
