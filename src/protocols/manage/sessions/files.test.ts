import { expect, test } from 'vitest'
import type { ModelRequest } from '../../../models/model.ts'
import { openDoors, refusalOf } from '../../testing/open-doors.ts'
import { base64 } from '../../testing/open-engine-with-files.ts'
import { readSse } from '../../testing/sse-reader.ts'

const path = '/sessions/holiday/messages'
const note = { content: base64('Sunny.'), mime_type: 'text/plain', filename: 'weather.txt' }

test('a message brings files, new ones and those uploaded before', async () => {
  const requests: ModelRequest[] = []
  await using doors = await openDoors({ onRequest: (request) => void requests.push(request) })
  const [uploaded] = await doors.attachments.take('local_user', [
    { pointer: '', base64: base64('a,b'), name: 'plan.csv', mimeType: null },
  ])

  const response = await doors.post(path, { message: 'Where to?', files: [note, { file_id: uploaded?.id }] })
  const { run_id } = (await response.json()) as { run_id: string }
  await readSse(await doors.get(`/runs/${run_id}/events`)).rest()

  expect(response.status).toBe(202)
  expect(requests[0]?.messages.at(-1)?.content).toMatch(
    /\[file: weather\.txt\][\s\S]*Sunny\.[\s\S]*\[file: plan\.csv\]/,
  )
  const session = await doors.engine.sessions.get('local_user', 'holiday')
  expect((await doors.store.files.ofSession(session.id)).map(({ name }) => name).sort()).toEqual([
    'plan.csv',
    'weather.txt',
  ])
})

test.each([
  ['nothing', {}, 400, 'invalid_request'],
  ['no base64', { ...note, content: '?' }, 400, 'invalid_request'],
  ['a type that is not taken', { ...note, mime_type: 'video/mp4' }, 415, 'unsupported_media_type'],
  ['too much', { ...note, content: base64('x'.repeat(10_000_001)) }, 413, 'file_too_large'],
  ['what cannot be read', { ...note, filename: 'damaged.txt' }, 422, 'file_unreadable'],
  ['an unknown id', { file_id: '0192f3a1-7b2c-7def-8abc-0123456789ab' }, 404, 'file_not_found'],
])('%s in place of a file is refused, and there is no session', async (_what, file, status, code) => {
  await using doors = await openDoors()

  const response = await doors.post(path, { message: 'Hi', files: [file] })

  expect(await refusalOf(response)).toEqual({ status, code })
  expect(await doors.engine.sessions.find('local_user', 'holiday')).toBe(null)
})
