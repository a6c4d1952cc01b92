import { expect, test } from 'vitest'
import { releaseBody } from './body-with-files.ts'

function requestOf() {
  const calls: string[] = []
  return { releaseBody: () => void calls.push('releaseBody'), calls }
}

test('empties what can hold files, leaves the rest, and what lies on disk goes', () => {
  const request = requestOf()
  const message = { content: ['a'] }
  const body = { message: 'Hi', files: [1], messages: [message], input: [2], state: { files: [3] } }
  const turn = { files: [4] }

  releaseBody(request, [body, turn])

  expect(body).toEqual({ message: 'Hi', files: [], messages: [], input: [], state: { files: [3] } })
  expect(turn).toEqual({ files: [] })
  expect(message).toEqual({ content: ['a'] })
  expect(request.calls).toEqual(['releaseBody'])
})

test('ignores other bodies', () => {
  const body = { input: 'text', files: null }
  releaseBody(requestOf(), [null, 'text', [1], body])

  expect(body).toEqual({ input: 'text', files: null })
})
