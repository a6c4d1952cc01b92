import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { LongText } from '../../../http/body/long-text.ts'
import { inputProblems, jsonPointer, longTextProblems } from './validate.ts'

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
