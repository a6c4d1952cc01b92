import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { LongText } from '../../../http/body/long-text.ts'
import { inputProblems, jsonPointer, longTextProblems, validate } from './validate.ts'

const list = (length: number, item: unknown) => Array.from({ length }, () => item)

/** How many problems are told, and how many were worded. */
function countProblems(item: unknown, length: number): { told: number; worded: number } {
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
    expect(countProblems({}, 15)).toEqual({ told: 15, worded: 15 })
    expect(countProblems({ text: '' }, 15)).toEqual({ told: 15, worded: 15 })
  })

  test('stops where there are many', () => {
    expect(countProblems({}, 500)).toEqual({ told: 20, worded: 20 })
    // The first item that is something else ends a long list.
    expect(countProblems({}, 50_000)).toEqual({ told: 1, worded: 1 })
    expect(countProblems({ text: '' }, 50_000)).toEqual({ told: 20, worded: 20 })
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

const problemsOf = (schema: z.ZodType, value: unknown) => {
  const parsed = schema.safeParse(value)
  return parsed.success ? [] : inputProblems(parsed.error.issues, value)
}

describe('input problems', () => {
  test('point at the place with a JSON pointer', () => {
    const schema = z.object({ list: z.array(z.object({ name: z.string() })) })

    expect(problemsOf(schema, { list: [{ name: 'a' }, { name: 1 }] })).toEqual([
      { pointer: '/list/1/name', detail: 'Invalid input: expected string, received number' },
    ])
  })

  test('name each unknown key by itself', () => {
    expect(problemsOf(z.strictObject({}), { a: 1, b: 2 })).toEqual([
      { pointer: '/a', detail: 'Unknown key: leave it out.' },
      { pointer: '/b', detail: 'Unknown key: leave it out.' },
    ])
  })

  test('show the branch of a union that was meant', () => {
    const schema = z.object({ content: z.union([z.string(), z.array(z.object({ text: z.string() }))]) })

    expect(problemsOf(schema, { content: [{ text: 'a' }, { text: null }] })).toEqual([
      { pointer: '/content/1/text', detail: 'Invalid input: expected string, received null' },
    ])
  })

  test('say that none of a union fits where none came further than the others', () => {
    const schema = z.object({ content: z.union([z.string(), z.array(z.string())]) })

    expect(problemsOf(schema, { content: 7 })).toEqual([{ pointer: '/content', detail: 'Invalid input' }])
  })

  test('say of a text that is taken for a file what it is, wherever it stands', () => {
    const text = new LongText({ chars: 70_000, head: '', ending: '', sha256: '', fill: async () => {} })
    const Named = z.object({ name: z.string() })
    const schema = z.object({ list: z.array(z.union([Named, z.object({ id: z.string() })])) })
    const detail = expect.stringContaining('looks like a file (70000 characters')

    expect(problemsOf(schema, { list: [{ name: text }] })).toEqual([{ pointer: '/list/0/name', detail }])
    expect(problemsOf(schema, { list: [text] })).toEqual([{ pointer: '/list/0', detail }])
    expect(problemsOf(schema, { list: text })).toEqual([{ pointer: '/list', detail }])
    expect(problemsOf(schema, text)).toEqual([{ pointer: '', detail }])
    expect(longTextProblems({ a: [1, { 'b/c': text }] }, ['state'])).toEqual([{ pointer: '/state/a/1/b~1c', detail }])
    expect(longTextProblems({ a: [1, { b: 'text' }, null] }, ['state'])).toEqual([])
  })

  test('stop at twenty', () => {
    const many = Array.from({ length: 1_000 }, () => 1)

    expect(problemsOf(z.array(z.string()), many)).toHaveLength(20)
  })

  test('escape what has a meaning in a pointer', () => {
    expect(jsonPointer(['a/b', '~', 0])).toBe('/a~1b/~0/0')
  })
})
