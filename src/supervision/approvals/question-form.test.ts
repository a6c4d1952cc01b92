import { describe, expect, test } from 'vitest'
import { emptyAnswer, questionForm } from './question-form.ts'

const field = (schema: object, required: string[] = []) =>
  questionForm({ type: 'object', properties: { x: schema }, required })[1]

describe('the form of a question', () => {
  test.each([
    [{ enum: ['S', 'L'] }, 'one of "S", "L"'],
    [{ type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'Large'] }, 'one of "s" (Small), "l" (Large)'],
    [{ type: 'string', oneOf: [{ const: 'a', title: 'First' }, { const: 'b' }] }, 'one of "a" (First), "b"'],
    [{ type: 'boolean', default: false }, 'true or false – usually false'],
    [{ type: 'integer', minimum: 1, maximum: 10 }, 'a whole number, at least 1, at most 10'],
    [{ type: 'number', exclusiveMinimum: 0, multipleOf: 0.5 }, 'a number, more than 0, a multiple of 0.5'],
    [{ type: 'string', format: 'email', maxLength: 80 }, 'a text, in the format email, at most 80 characters'],
    [{ type: 'string', title: 'Name', description: 'As on the card.' }, 'a text – Name; As on the card.'],
    [{ type: 'array', items: { enum: ['a', 'b'] }, minItems: 1 }, 'a list of any of "a", "b", at least 1 entry'],
    [{ type: 'array', items: { type: 'integer' } }, 'a list of values, each a whole number'],
    [{ $ref: '#/x' }, 'a value that fits the schema {"$ref":"#/x"}'],
    [true, 'any value'],
  ])('%j is %s', (schema, line) => {
    expect(field(schema as object)).toBe(`  x: ${line}`)
    expect(field(schema as object, ['x'])).toBe(`  x (required): ${line}`)
  })

  test('is one line for a single value, and none for any text', () => {
    expect(questionForm({ type: 'string', enum: ['red', 'blue'] })).toEqual(['Answer with one of red, blue'])
    expect(questionForm({ type: 'number', maximum: 3 })).toEqual(['Answer with a number, at most 3'])
    expect([questionForm({ type: 'string' }), questionForm({ type: 'string', minLength: 1 })]).toEqual([[], []])
    expect(questionForm({ type: 'object', properties: {} })).toEqual([])
  })

  test('shows every character of a hostile schema, on lines of its own and within limits', () => {
    const hostile = { enum: ['a\u202e\nb'], title: `\x1b[2J${'x'.repeat(10_000)}` }
    const [, line = ''] = questionForm({ properties: { 'n\nFake: yes': hostile } })
    expect(line.slice(0, 60)).toBe('  n\\nFake: yes: one of "a\\u202e\\nb" – <U+001B>[2Jxxxxxxxxxxx')
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`f${i}`, { enum: Array(900).fill('y') }]))
    const form = questionForm({ properties: many })
    expect(form.join('\n').length).toBeLessThan(4_200)
    expect(form.at(-1)).toBe('  … and more: the schema of the question has all of it')
    expect(questionForm({ properties: { x: { enum: Array(60).fill(1) } } })[1]).toMatch(/, … and 10 more$/)
  })

  test('begins with the fields that are needed or have a usual value', () => {
    const properties = { a: { type: 'string' }, b: { type: 'integer', default: 3 }, c: {} }
    expect(emptyAnswer({ properties, required: ['a'] })).toEqual({ a: null, b: 3 })
    expect(emptyAnswer({ properties: { a: {}, c: true } })).toEqual({ a: null, c: null })
  })
})
