import { expect, test } from 'vitest'
import { openRaw } from '../../../http/testing/server-fixture.ts'
import { openDoors } from '../../testing/open-doors.ts'
import { releaseBody } from './body-with-files.ts'

const post = (port: string, more: string) =>
  `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`

async function answerTo(more: string, body?: Buffer): Promise<string> {
  await using doors = await openDoors()
  const { port } = new URL(doors.url)
  const client = await openRaw(Number(port))
  client.send(post(port, more))
  if (body !== undefined) client.send(body)
  return await client.closed()
}

test('more than all files can be is refused by its announced length, before any of it comes', async () => {
  expect(await answerTo('Content-Length: 137333335')).toMatch(/^HTTP\/1\.1 413 [\s\S]*body_too_large/)
})

test('who does not say how much it will be gets the ordinary limit', async () => {
  const size = 11 * 1024 * 1024
  const chunk = Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), Buffer.alloc(size, ' '), Buffer.from('\r\n')])

  expect(await answerTo('Transfer-Encoding: chunked', chunk)).toMatch(/^HTTP\/1\.1 413 [\s\S]*body_too_large/)
})

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
