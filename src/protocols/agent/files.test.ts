import { describe, expect, test } from 'vitest'
import type { ModelRequest } from '../../models/model.ts'
import { openRoutes } from '../shared/answer/testing/open-routes.ts'
import { asAda } from '../testing/open-doors.ts'
import { base64, PNG } from '../testing/open-engine-with-files.ts'
import { createAgentRoutes } from './routes.ts'

const chat = '/agent/tester/chat'

async function open() {
  const requests: ModelRequest[] = []
  const doors = await openRoutes(createAgentRoutes, { onRequest: (request) => void requests.push(request) })
  return {
    ...doors,
    form: (parts: FormData, path = chat, headers: Record<string, string> = {}) =>
      fetch(doors.url + path, { method: 'POST', body: parts, headers }),
    /** What the model was told last. */
    told: () => requests.at(-1)?.messages.at(-1)?.content,
    /** The user's messages of a session, as they are stored. */
    async stored(sessionId: string) {
      const session = await doors.engine.sessions.get('local_user', sessionId)
      const messages = await doors.engine.messages.page(session.id, 100)
      return messages.filter(({ role }) => role === 'user').map(({ content }) => content)
    },
  }
}

function formOf(fields: Record<string, string>, ...files: [name: string, content: string | Uint8Array<ArrayBuffer>][]) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  for (const [name, content] of files) form.append('files', new File([content], name))
  return form
}

const note = { content: base64('Buy milk.'), mime_type: 'text/plain', filename: 'note.txt' }
const problemOf = async (response: Response) => {
  const { code, detail, errors } = (await response.json()) as Record<string, unknown>
  return { status: response.status, code, detail, ...(errors === undefined ? {} : { errors }) }
}

describe('files in JSON', () => {
  test('reach the agent under their names, and stay with the message', async () => {
    await using doors = await open()
    const picture = { content: base64(PNG), mime_type: 'image/png', filename: 'dot.png' }

    const response = await doors.post(chat, { message: 'What is this?', files: [note, picture] })
    const { session_id } = (await response.json()) as { session_id: string }

    expect(response.status).toBe(200)
    expect(doors.told()).toMatch(
      /^What is this\?\n\n[\s\S]*\[file: note\.txt\][\s\S]*Buy milk\.[\s\S]*\[file: dot\.png\]/,
    )
    expect(await doors.stored(session_id)).toEqual([
      [
        { type: 'text', text: 'What is this?' },
        {
          type: 'document',
          source: { type: 'file', value: expect.any(String), mimeType: 'text/plain' },
          metadata: { filename: 'note.txt' },
        },
        {
          type: 'image',
          source: { type: 'file', value: expect.any(String), mimeType: 'image/png' },
          metadata: { filename: 'dot.png' },
        },
      ],
    ])
    const session = await doors.engine.sessions.get('local_user', session_id)
    expect((await doors.store.files.ofSession(session.id)).map(({ name }) => name)).toEqual(['note.txt', 'dot.png'])
  })

  test('may be larger than other bodies, where the length is announced', async () => {
    await using doors = await open()
    const files = [1, 2].map((i) => ({
      content: base64(`${i}`.repeat(10_000_000)),
      mime_type: 'text/plain',
      filename: `${i}.txt`,
    }))

    expect((await doors.post(chat, { message: 'Read.', files })).status).toBe(200)
  })

  test.each([
    ['no base64', { ...note, content: 'no base64!' }, 400, 'invalid_request', '/files/0/content'],
    ['an unknown key', { ...note, colour: 'red' }, 400, 'invalid_request', '/files/0/colour'],
    ['no type', { content: note.content }, 400, 'invalid_request', '/files/0/mime_type'],
    [
      'a file of more than 10 MB',
      { ...note, content: base64('x'.repeat(10_000_001)) },
      413,
      'file_too_large',
      '/files/0/content',
    ],
    ['a label that does not fit', { ...note, mime_type: 'image/png' }, 415, 'unsupported_media_type', undefined],
    ['a type that is not taken', { ...note, mime_type: 'audio/mpeg' }, 415, 'unsupported_media_type', undefined],
    ['an empty file', { ...note, content: '' }, 422, 'file_unreadable', undefined],
    ['an id that nobody knows', { file_id: '0192f3a1-7b2c-7def-8abc-0123456789ab' }, 404, 'file_not_found', undefined],
  ])('%s is refused before there is a run', async (_what, file, status, code, pointer) => {
    await using doors = await open()

    const response = await doors.post(chat, { message: 'Hi', files: [file] })
    const problem = (await response.json()) as { code: string; errors?: { pointer: string }[] }

    expect([response.status, problem.code, problem.errors?.[0]?.pointer]).toEqual([status, code, pointer])
    expect(doors.engine.stats().runsStarted).toBe(0)
  })

  test('are at most ten', async () => {
    await using doors = await open()

    expect((await doors.post(chat, { message: 'Hi', files: Array(10).fill(note) })).status).toBe(200)
    expect(await problemOf(await doors.post(chat, { message: 'Hi', files: Array(11).fill(note) }))).toMatchObject({
      status: 400,
      code: 'too_many_files',
    })
  })

  test.each([chat, `${chat}/stream`])('that cannot be read are named before %s answers', async (path) => {
    await using doors = await open()

    const response = await doors.post(path, { message: 'Hi', files: [note, { ...note, filename: 'damaged.txt' }] })

    expect(await problemOf(response)).toEqual({
      status: 422,
      code: 'file_unreadable',
      detail: '"damaged.txt" cannot be read. It is damaged.',
    })
    expect(doors.engine.stats().runsStarted).toBe(0)
  })

  test('may be uploaded before, by the same user', async () => {
    await using doors = await open()
    const [file] = await doors.attachments.take('local_user', [
      { pointer: '', base64: note.content, name: 'note.txt', mimeType: null },
    ])
    const asked = { message: 'Hi', files: [{ file_id: file?.id }] }

    expect(await problemOf(await doors.post(chat, asked, asAda))).toMatchObject({ status: 404, code: 'file_not_found' })
    expect((await doors.post(chat, asked)).status).toBe(200)
    expect(doors.told()).toContain('Buy milk.')
    // It belongs to that session from now on.
    expect(await problemOf(await doors.post(chat, asked))).toMatchObject({ status: 404, code: 'file_not_found' })
  })

  test('start one run under one key', async () => {
    await using doors = await open()
    const key = { 'Idempotency-Key': 'k' }
    const ask = (content: string) =>
      doors.post(chat, { message: 'Hi', files: [{ ...note, content: base64(content) }] }, key)

    const answers = await Promise.all([await ask('a'), await ask('a')].map((one) => one.json()))

    expect(answers[1]).toEqual(answers[0])
    expect(await problemOf(await ask('b'))).toMatchObject({ status: 422, code: 'idempotency_mismatch' })
    expect(doors.engine.stats().runsStarted).toBe(1)
  })
})

describe('a form', () => {
  test.each([chat, `${chat}/stream`])('brings message, session and files to %s, in any order', async (path) => {
    await using doors = await open()
    const { session } = await doors.start('before')
    const form = formOf({}, ['a.txt', 'one'])
    form.append('session_id', session.id)
    form.append('message', 'Read them.')
    form.append('files', new File(['x,y'], 'b.csv'))

    const response = await doors.form(form, path)
    await response.text()

    expect(response.status).toBe(200)
    expect(await doors.stored(session.id)).toEqual([
      'before',
      [
        { type: 'text', text: 'Read them.' },
        expect.objectContaining({ type: 'document', metadata: { filename: 'a.txt' } }),
        expect.objectContaining({ type: 'document', metadata: { filename: 'b.csv' } }),
      ],
    ])
    expect(doors.told()).toMatch(/\[file: a\.txt\][\s\S]*one[\s\S]*\[file: b\.csv\]/)
  })

  test('takes files that are too large for JSON', async () => {
    await using doors = await open()

    const response = await doors.form(formOf({ message: 'Read.' }, ['large.txt', 'x'.repeat(12_000_000)]))

    expect(response.status).toBe(200)
  })

  test('needs no files', async () => {
    await using doors = await open()

    const response = await doors.form(formOf({ message: 'Hi' }))

    expect(response.status).toBe(200)
    expect(await doors.stored(((await response.json()) as { session_id: string }).session_id)).toEqual(['Hi'])
  })

  test.each([
    ['no message', formOf({}, ['a.txt', 'one']), 400, '/message'],
    ['a blank message', formOf({ message: ' ' }), 400, '/message'],
    ['an unknown field', formOf({ message: 'Hi', mood: 'good' }), 400, '/mood'],
    ['files that are fields', formOf({ message: 'Hi', files: 'one' }), 400, '/files'],
    [
      'a file of no type that is taken',
      formOf({ message: 'Hi' }, ['a.bin', new Uint8Array([0, 1, 2, 0])]),
      415,
      undefined,
    ],
    ['an unreadable file', formOf({ message: 'Hi' }, ['damaged.txt', 'x']), 422, undefined],
  ])('with %s is refused', async (_what, form, status, pointer) => {
    await using doors = await open()

    const response = await doors.form(form)
    const problem = (await response.json()) as { errors?: { pointer: string }[] }

    expect([response.status, problem.errors?.[0]?.pointer]).toEqual([status, pointer])
    expect(doors.engine.stats().runsStarted).toBe(0)
  })

  test('starts one run under one key', async () => {
    await using doors = await open()
    const key = { 'Idempotency-Key': 'k' }
    const ask = (content: string) => doors.form(formOf({ message: 'Hi' }, ['a.txt', content]), chat, key)

    const first: unknown = await (await ask('a')).json()

    expect(await (await ask('a')).json()).toEqual(first)
    expect(await problemOf(await ask('b'))).toMatchObject({ status: 422, code: 'idempotency_mismatch' })
  })

  test('resumes a stream without keeping its files again', async () => {
    await using doors = await open()
    const stream = `${chat}/stream`
    const events = await (await doors.form(formOf({ message: 'Hi' }, ['a.txt', 'one']), stream)).text()
    const id = /^id: (.+)$/m.exec(events)?.[1] ?? ''

    const again = await doors.form(formOf({ message: 'Hi' }, ['a.txt', 'two']), stream, { 'Last-Event-ID': id })

    expect(await again.text()).toContain('event: stream_end')
    expect(doors.engine.stats().runsStarted).toBe(1)
    expect(await doors.kept()).toBe(1)
  })
})

test('what is neither JSON nor a form is refused', async () => {
  await using doors = await open()

  const response = await fetch(doors.url + chat, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'message=Hi',
  })

  expect(await problemOf(response)).toMatchObject({ status: 415, code: 'unsupported_media_type' })
})
