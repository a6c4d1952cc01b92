import { describe, expect, test } from 'vitest'
import { jsonProblem } from './json-limits.ts'

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
const tooLong = 'It is longer than 1 MB as JSON.'
const tooMany = 'It holds more than 100000 values.'

describe('JSON of a client or a tool', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'x'.repeat(999_998)],
    ['many values', Array.from({ length: 99_999 }, (_, i) => i)],
    ['many levels', nested(100)],
    ['an object with toJSON', { at: new Date(0) }],
  ])('may be %s', (_what, state) => {
    expect(jsonProblem(state)).toBe(null)
  })

  const circle: Record<string, unknown> = {}
  circle.again = circle
  test.each<[string, unknown, string]>([
    ['a long text', 'x'.repeat(999_999), tooLong],
    ['a long key', { ['x'.repeat(1_000_000)]: 1 }, tooLong],
    ['texts that are long together', Array.from({ length: 11 }, () => 'x'.repeat(100_000)), tooLong],
    ['characters of several bytes', 'ß'.repeat(600_000), tooLong],
    ['text that needs escapes', '"'.repeat(600_000), tooLong],
    ['too many values', Array.from({ length: 100_000 }, (_, i) => i), tooMany],
    ['too many values in several places', Array.from({ length: 2 }, () => ({ list: Array(50_000).fill(0) })), tooMany],
    ['too many levels', nested(101), 'It is nested deeper than 100 levels.'],
    [
      'too many levels next to a key toJSON that is not a method',
      { toJSON: 1, x: nested(101) },
      'It is nested deeper than 100 levels.',
    ],
    ['a circle', circle, 'It is nested deeper than 100 levels.'],
  ])('may not be %s', (_what, state, problem) => {
    expect(jsonProblem(state)).toBe(problem)
  })
})
