import { expect, test } from 'vitest'
import { letGo } from './let-go.ts'

test('empties what can hold files, and leaves the rest', () => {
  const message = { content: ['a'] }
  const body = { message: 'Hi', files: [1], messages: [message], input: [2], state: { files: [3] } }

  letGo(body)

  expect(body).toEqual({ message: 'Hi', files: [], messages: [], input: [], state: { files: [3] } })
  expect(message).toEqual({ content: ['a'] })
})

test('has nothing to do with what is no such body', () => {
  const body = { input: 'text', files: null }
  for (const one of [null, 'text', [1], body]) letGo(one)

  expect(body).toEqual({ input: 'text', files: null })
})
