import { describe, expect, test } from 'vitest'
import { answerOf, questionFields } from './question-fields.ts'

const schema = {
  type: 'object',
  properties: {
    size: { type: 'string', enum: ['S', 'L'], enumNames: ['Small', 'Large'] },
    count: { type: 'integer', default: 2, description: 'How many.' },
    gift: { type: 'boolean' },
    note: { type: 'string', title: 'A note' },
    more: { type: 'object' },
  },
  required: ['size', 'note'],
}

describe('the form of a question', () => {
  test('has a field for each property', () => {
    expect(questionFields(schema)).toEqual([
      {
        name: 'size',
        label: 'size',
        help: null,
        isRequired: true,
        preset: '',
        input: {
          type: 'choice',
          choices: [
            { value: 'S', label: 'Small' },
            { value: 'L', label: 'Large' },
          ],
        },
      },
      {
        name: 'count',
        label: 'count',
        help: 'How many.',
        isRequired: false,
        preset: '2',
        input: { type: 'number', isWhole: true },
      },
      { name: 'gift', label: 'gift', help: null, isRequired: false, preset: '', input: { type: 'switch' } },
      {
        name: 'note',
        label: 'A note',
        help: null,
        isRequired: true,
        preset: '',
        input: { type: 'text', isLong: true, format: null },
      },
      { name: 'more', label: 'more', help: null, isRequired: false, preset: '', input: { type: 'json' } },
    ])
  })

  test('becomes the answer, and leaves out what was left empty', () => {
    const fields = questionFields(schema)
    expect(answerOf(fields, { size: '1', note: 'hi' })).toEqual({
      ok: true,
      result: { size: 'L', count: 2, gift: false, note: 'hi' },
    })
  })

  test('says what is wrong with which field', () => {
    const fields = questionFields(schema)
    expect(answerOf(fields, { count: '1.5', more: '{', note: '' })).toEqual({
      ok: false,
      problems: { size: 'This is needed.', count: 'Type a number.', more: 'This is not JSON.' },
    })
  })

  test('of a single value is one field, and its answer is that value', () => {
    const fields = questionFields({ type: 'string' })
    expect(answerOf(fields, { '': 'yes' })).toEqual({ ok: true, result: 'yes' })
    expect(answerOf(questionFields({}), { '': '[1]' })).toEqual({ ok: true, result: [1] })
  })

  test('keeps properties with odd names', () => {
    const odd = JSON.parse('{"properties": {"__proto__": {"type": "string"}}}')
    const answer = answerOf(questionFields(odd), JSON.parse('{"__proto__": "x"}'))
    expect(answer.ok && JSON.stringify(answer.result)).toBe('{"__proto__":"x"}')
  })
})
