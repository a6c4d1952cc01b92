import { expect, test } from 'vitest'
import { argumentFields, argumentsInJson, editedArguments } from './ArgumentsEditor.tsx'

test('arguments survive the form unchanged', () => {
  const args = { to: 'bob', count: 2, list: [1, { a: null }], '': 'x' }
  expect(editedArguments(argumentFields(args))).toEqual({ ok: true, arguments: args })
})

test('a value that is not JSON is a problem of its field', () => {
  const fields = argumentFields({ count: 2, to: 'bob' }).map((field) =>
    field.name === 'count' ? { ...field, text: '2,5' } : field,
  )
  expect(editedArguments(fields)).toMatchObject({ ok: false, problems: { count: expect.stringMatching('not JSON') } })
})

test('all arguments in one text are an object', () => {
  expect(argumentsInJson('{"a": 1}')).toEqual({ ok: true, arguments: { a: 1 } })
  expect(argumentsInJson('[1]')).toMatchObject({ ok: false })
  expect(argumentsInJson('{')).toMatchObject({ ok: false })
})
