import { expect, test } from 'vitest'
import { argumentFields, argumentsInJson, draftOf, editedArguments, editIn } from './ArgumentsEditor.tsx'
import { changeIn, withChange } from './kept-change.ts'

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

test('of an edit only what was changed is kept, and comes back', () => {
  const fields = argumentFields({ to: 'bob', token: '[masked]', count: 2 })
  const edit = { mode: 'form' as const, fields: fields.with(0, { name: 'to', text: '', isJson: false }) }
  expect(draftOf(edit, fields)).toEqual({ 'argument.to': '' })
  expect(editIn(draftOf(edit, fields), fields)).toEqual(edit)
  expect(draftOf({ mode: 'form', fields }, fields)).toEqual({})
  const text = '{ "to": '
  expect(editIn(draftOf({ mode: 'json', text }, fields), fields)).toEqual({ mode: 'json', text })
  expect(draftOf({ mode: 'form', fields: argumentFields({ to: 1 }) }, fields)).toEqual({ json: '{\n  "to": 1\n}' })
})

test.each([
  ['a line in the middle', 'PASSWORD=x\na\nb\nTOKEN=y\n', 'PASSWORD=x\na\nnew\nTOKEN=y\n'],
  ['what repeats', 'aaaa', 'aa'],
  ['what repeats more often', 'aa', 'aaaa'],
  ['everything', 'abc', ''],
  ['from nothing', '', 'a 1 2\n'],
])('of an edited file only the change is kept: %s', (_what, before, after) => {
  const kept = changeIn(before, after)
  expect(withChange(before, kept)).toBe(after)
  expect(kept).not.toMatch(/PASSWORD|TOKEN/)
  expect(withChange(`${before}x`, kept)).toBe(`${before}x`)
})
