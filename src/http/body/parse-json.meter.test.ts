import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { ServerError } from '../../domain/errors.ts'
import { JsonMeter, MAX_VALUES } from './parse-json.ts'

/** The meter's verdict on a text that arrives in pieces of `size` bytes. */
function refusal(text: string, size = 1_000): string {
  const meter = new JsonMeter()
  const bytes = Buffer.from(text)
  try {
    for (let i = 0; i < bytes.length; i += size) meter.take(bytes.subarray(i, i + size))
    return 'taken'
  } catch (error) {
    return error instanceof ServerError ? `${error.code}: ${error.message}` : String(error)
  }
}

const TOO_MANY = 'body_too_large: The body contains more than 100,000 JSON values. Send less at once.'
const TOO_DEEP = 'malformed_json: The body is nested deeper than 100 levels.'

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, member) => sum + countValues(member), 1)
}

const listOf = (count: number, item: string) => `[${Array.from({ length: count }, () => item).join(',')}]`

describe('the JSON meter', () => {
  test.each(['0', '"a"', '[]', '{ }', 'null', '" , "'])('accepts 100,000 values and not one more: %s', (item) => {
    expect(refusal(listOf(MAX_VALUES - 1, item))).toBe('taken')
    expect(refusal(listOf(MAX_VALUES, item))).toBe(TOO_MANY)
  })

  test('counts the members of an object once, and not their names', () => {
    const object = (members: number) => `{${Array.from({ length: members }, (_, i) => `"k${i}": 0`).join(', ')}}`

    expect(refusal(object(MAX_VALUES - 1))).toBe('taken')
    expect(refusal(object(MAX_VALUES))).toBe(TOO_MANY)
  })

  test('counts like a parser, however the text is split', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 1, max: 9 }), (value, size) => {
        const room = MAX_VALUES - 1 - countValues(value)
        const text = (zeros: number) => `[${JSON.stringify(value)},${listOf(zeros, '0').slice(1)}`

        expect(refusal(text(room), size * 100_000 + 1)).toBe('taken')
        expect(refusal(text(room + 1), size * 100_000 + 1)).toBe(TOO_MANY)
      }),
      { numRuns: runs(20) },
    )
  })

  test('the content of strings does not count, however small its pieces are', () => {
    const text = JSON.stringify(['[{,'.repeat(100), '"\\', '\\"[', { '[{"': '\\\\' }])

    for (const size of [1, 2, 3, 7]) expect(refusal(text.repeat(30), size)).toBe('taken')
    expect(refusal(JSON.stringify(',['.repeat(MAX_VALUES)))).toBe('taken')
  })

  test('accepts 100 levels and refuses 101, of either bracket', () => {
    const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels)

    expect(refusal(nested(100, '[', ']'))).toBe('taken')
    expect(refusal(nested(101, '[', ']'))).toBe(TOO_DEEP)
    expect(refusal(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`)).toBe('taken')
    expect(refusal(`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`)).toBe(TOO_DEEP)
    expect(refusal(listOf(300, '[]'))).toBe('taken')
  })
})
