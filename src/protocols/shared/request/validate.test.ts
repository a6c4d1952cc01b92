import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { validate } from './validate.ts'

const list = (length: number, item: unknown) => Array.from({ length }, () => item)

/** How many problems are told, and how many were worded. */
function problemsOf(item: unknown, length: number): { told: number; worded: number } {
  let worded = 0
  const error = () => {
    worded += 1
    return 'wrong'
  }
  const Item = z.object({ text: z.string({ error }).min(1, { error }) })
  const result = validate(z.object({ items: z.array(Item) }), { items: list(length, item) })
  return { told: result.success ? 0 : result.issues.length, worded }
}

describe('judging what a client sent', () => {
  test('finds all problems of a small value, up to 20', () => {
    expect(problemsOf({}, 15)).toEqual({ told: 15, worded: 15 })
    expect(problemsOf({ text: '' }, 15)).toEqual({ told: 15, worded: 15 })
  })

  test('stops where there are many', () => {
    expect(problemsOf({}, 500)).toEqual({ told: 20, worded: 20 })
    // The first item that is something else ends a long list.
    expect(problemsOf({}, 50_000)).toEqual({ told: 1, worded: 1 })
    expect(problemsOf({ text: '' }, 50_000)).toEqual({ told: 20, worded: 20 })
  })

  test('of a union no branch is followed further than that', () => {
    const Union = z.union([z.string(), z.array(z.object({ a: z.string() }))])

    expect(validate(Union, list(50_000, {}))).toMatchObject({
      success: false,
      issues: [{ code: 'invalid_union', errors: [[{ path: [] }], [{ path: [0, 'a'] }]] }],
    })
  })

  test('a value without problems is what it was', () => {
    const value = list(50_000, 'x')

    expect(validate(z.array(z.string()), value)).toEqual({ success: true, data: value })
  })
})
