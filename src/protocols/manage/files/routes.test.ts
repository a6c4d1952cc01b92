import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../../http/open-api/document.ts'
import { openRaw, problemOfText, until, userToken } from '../../../http/testing/server-fixture.ts'
import { createFileRoutes } from './routes.ts'
import { openFiles } from './testing/open-files.ts'

const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex')
const asAda = { Authorization: `Bearer ${userToken.token}` }

function formOf(
  ...files: (readonly [name: string, content: string | Uint8Array<ArrayBuffer>, type?: string])[]
): FormData {
  const form = new FormData()
  for (const [name, content, type] of files)
    form.append('file', new File([content], name, type === undefined ? {} : { type }))
  return form
}

interface Answer {
  file_id: string
  files: Record<string, unknown>[]
}

async function post(url: string, body: FormData, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/files`, { method: 'POST', body, headers })
  const answer: Answer = JSON.parse(await response.text())
  return { status: response.status, location: response.headers.get('location'), body: answer }
}

describe('POST /files', () => {
  test('keeps one file and says what it is', async () => {
    await using opened = await openFiles()

    const { status, location, body } = await post(opened.url, formOf(['../notes.md', '# Hi', 'text/markdown']))

    expect({ status, body }).toEqual({
      status: 201,
      body: {
        file_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        mime_type: 'text/markdown',
        bytes: 4,
        sha256: sha256('# Hi'),
        name: 'notes.md',
      },
    })
    expect(location).toBe(`/files/${body.file_id}`)
    expect(await opened.store.files.get(body.file_id)).toMatchObject({ owner: 'local_user', sessionId: null })
    expect(await opened.kept()).toEqual([sha256('# Hi')])
  })

  test('keeps several, in order, and the same bytes once', async () => {
    await using opened = await openFiles()

    const { status, body } = await post(opened.url, formOf(['a.txt', 'one'], ['b.csv', '1,2'], ['c.txt', 'one']))

    expect(status).toBe(201)
    expect(body.files.map((file) => [file.name, file.mime_type, file.sha256])).toEqual([
      ['a.txt', 'text/plain', sha256('one')],
      ['b.csv', 'text/csv', sha256('1,2')],
      ['c.txt', 'text/plain', sha256('one')],
    ])
    expect((await opened.kept()).length).toBe(2)
  })

  test('takes ten files and no more', async () => {
    await using opened = await openFiles()
    const many = (count: number) =>
      formOf(...Array.from({ length: count }, (_, i) => [`${i}.txt`, `text ${i}`] as const))

    expect(await post(opened.url, many(10))).toMatchObject({ status: 201 })
    expect(await post(opened.url, many(11))).toMatchObject({ status: 400, body: { code: 'too_many_files' } })
  })

  test('refuses a file over 50 MB as soon as that is known, and leaves nothing of it', async () => {
    await using opened = await openFiles()
    const client = await openRaw(opened.server.port)
    client.send(
      `POST /files HTTP/1.1\r\nHost: 127.0.0.1:${opened.server.port}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 90000000\r\n\r\n`,
    )
    client.send('--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n')

    // With the bytes that might be a boundary it is one too many; the other 40 MB never come.
    client.send(Buffer.alloc(50_000_002, 'x'))

    const answer = await client.closed()
    expect(problemOfText(answer)).toMatchObject({
      status: 413,
      code: 'file_too_large',
      max_bytes: 50_000_000,
      detail: '"a.txt" is larger than 50 MB.',
    })
    expect(await opened.kept()).toEqual([])
  })

  test.each<[string, FormData, number, string]>([
    ['nothing', new FormData(), 400, 'invalid_request'],
    ['an empty file', formOf(['a.txt', '']), 422, 'file_unreadable'],
    ['a label that does not fit', formOf(['a.png', '%PDF-1.7 hello', 'image/png']), 415, 'unsupported_media_type'],
    ['what is none of the types', formOf(['a.exe', new Uint8Array([0x4d, 0x5a, 0, 1])]), 415, 'unsupported_media_type'],
    ['a type that is not taken', formOf(['a.mp3', 'x', 'audio/mpeg']), 415, 'unsupported_media_type'],
  ])('refuses %s', async (_what, form, status, code) => {
    await using opened = await openFiles()

    expect(await post(opened.url, form)).toMatchObject({ status, body: { code } })
    expect(await opened.kept()).toEqual([])
  })

  test('refuses unknown parts, and a body that is not a form', async () => {
    await using opened = await openFiles()
    const field = formOf()
    field.append('purpose', 'assistants')
    const other = formOf()
    other.append('avatar', new File(['x'], 'a.txt'))

    expect(await post(opened.url, field)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/purpose' }] } })
    expect(await post(opened.url, other)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/avatar' }] } })
    const json = await fetch(`${opened.url}/files`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect(json.status).toBe(415)
  })

  test('refuses more than a user may have unsent, and says when there is room again', async () => {
    await using opened = await openFiles({ unsent: { bytes: 10, ttlSeconds: 86_400 } })
    await post(opened.url, formOf(['a.txt', '12345']))
    await post(opened.url, formOf(['the same.txt', '12345']))

    const response = await fetch(`${opened.url}/files`, { method: 'POST', body: formOf(['b.txt', '123456']) })

    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(86_000)
    expect(await response.json()).toMatchObject({
      code: 'too_many_uploads',
      max_bytes: 10,
      detail: expect.stringMatching(
        /Send the earlier files in messages, or wait: they are removed 24 h after their upload\.$/,
      ),
    })
    expect(await opened.kept()).toEqual([sha256('12345')])
    expect(await post(opened.url, formOf(['b.txt', '123456']), asAda)).toMatchObject({ status: 201 })
    expect(await post(opened.url, formOf(['c.txt', '67890']))).toMatchObject({ status: 201 })
  })

  test('names what comes without a name by what it is', async () => {
    await using opened = await openFiles()
    const form = new FormData()
    form.append('file', new Blob(['%PDF-1.7 hello']))

    expect(await post(opened.url, form)).toMatchObject({ status: 201, body: { name: 'document.pdf' } })
  })

  test('leaves nothing of an upload that breaks off', async () => {
    await using opened = await openFiles()
    const client = await openRaw(opened.server.port)
    client.send(
      `POST /files HTTP/1.1\r\nHost: 127.0.0.1:${opened.server.port}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 90000000\r\n\r\n`,
    )
    client.send('--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n')
    client.send(Buffer.alloc(300_000, 'x'))
    await expect.poll(() => opened.kept()).toEqual([expect.stringMatching(/^incoming-/)])

    client.socket.destroy()

    await until(() => opened.server.server.stats().inWork === 0)
    await expect.poll(() => opened.kept()).toEqual([])
  })
})

describe('GET /files/{id}', () => {
  test('gives the bytes back, as something to save and nothing to run', async () => {
    await using opened = await openFiles()
    const content = 'x'.repeat(1_000_000)
    const { body } = await post(opened.url, formOf(['naïve "plan" 50%.txt', content, 'text/plain']))

    const response = await fetch(`${opened.url}/files/${body.file_id}`)

    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '1000000',
      'content-disposition': `attachment; filename="na_ve _plan_ 50_.txt"; filename*=UTF-8''na%C3%AFve%20%22plan%22%2050%25.txt`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    })
    expect(await response.text()).toBe(content)
  })

  test.each([
    ['page.html', 'text/html', '<script>alert(1)</script>'],
    ['drawing.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ['feed.xml', 'application/xhtml+xml', '<html xmlns="http://www.w3.org/1999/xhtml"/>'],
  ])('never gives %s back as a page that a browser would run', async (name, type, content) => {
    await using opened = await openFiles()
    const { status, body } = await post(opened.url, formOf([name, content, type]))

    const response = await fetch(`${opened.url}/files/${body.file_id}`)

    expect([status, await response.text()]).toEqual([201, content])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-disposition': expect.stringMatching(/^attachment; /),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    })
  })

  test('tells its head alone when that is asked for', async () => {
    await using opened = await openFiles()
    const { body } = await post(opened.url, formOf(['a.txt', 'hello']))

    const response = await fetch(`${opened.url}/files/${body.file_id}`, { method: 'HEAD' })

    expect({
      status: response.status,
      length: response.headers.get('content-length'),
      text: await response.text(),
    }).toEqual({
      status: 200,
      length: '5',
      text: '',
    })
  })

  test('is for its owner alone', async () => {
    await using opened = await openFiles()
    const mine = await post(opened.url, formOf(['a.txt', 'mine']))
    const hers = await post(opened.url, formOf(['a.txt', 'hers']), asAda)
    const get = async (id: string, headers: Record<string, string> = {}) =>
      (await fetch(`${opened.url}/files/${id}`, { headers })).status

    expect(await get(mine.body.file_id)).toBe(200)
    expect(await get(hers.body.file_id, asAda)).toBe(200)
    expect(await get(mine.body.file_id, asAda)).toBe(404)
    expect(await get(hers.body.file_id)).toBe(404)
    expect(await get('0192f3a1-7b2c-7def-8abc-0123456789ab')).toBe(404)
    expect(await get('..%2f..%2fetc%2fpasswd')).toBe(404)
  })

  test('is not found when its bytes are gone', async () => {
    await using opened = await openFiles()
    const { body } = await post(opened.url, formOf(['a.txt', 'x']))
    const kept = await opened.files.open(await opened.files.find('local_user', body.file_id))
    await rm(kept.path)

    const response = await fetch(`${opened.url}/files/${body.file_id}`)

    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 404,
      body: { code: 'file_not_found', file_id: body.file_id },
    })
  })

  test('stops when its reader has gone', async () => {
    await using opened = await openFiles()
    const { body } = await post(opened.url, formOf(['a.txt', 'x'.repeat(20_000_000)]))
    const client = await openRaw(opened.server.port)
    client.socket.pause()
    client.send(`GET /files/${body.file_id} HTTP/1.1\r\nHost: 127.0.0.1:${opened.server.port}\r\n\r\n`)
    await until(() => opened.server.server.stats().streams === 1)

    client.socket.destroy()

    await until(() => opened.server.server.stats().inWork === 0)
    expect(opened.server.lines.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('an address with a key', () => {
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const auth = { tokenRequired: true }
  const problemOf = async (response: Response) => ({
    status: response.status,
    code: JSON.parse(await response.text()).code,
  })

  test('opens its file without a credential, to be read and shown, and nothing else', async () => {
    await using opened = await openFiles({ auth })
    const { url, keys } = opened
    const { body: mine } = await post(url, formOf(['dot.png', pixel, 'image/png']), asAda)
    const { body: other } = await post(url, formOf(['note.txt', 'Hi', 'text/plain']), asAda)
    const address = `${url}/files/${mine.file_id}?key=${(await keys.signer('ada'))(mine.file_id)}`

    const shown = await fetch(address, { headers: { Origin: 'http://localhost:3000' } })
    expect([shown.status, Buffer.from(await shown.arrayBuffer())]).toEqual([200, pixel])
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': 'inline; filename="dot.png"; filename*=UTF-8\'\'dot.png',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'no-store',
      'access-control-allow-origin': 'http://localhost:3000',
    })
    expect((await fetch(address, { method: 'HEAD' })).status).toBe(200)
    const text = await fetch(`${url}/files/${other.file_id}?key=${(await keys.signer('ada'))(other.file_id)}`)
    expect(text.headers.get('content-disposition')).toMatch(/^attachment;/)

    const elsewhere = await fetch(`${url}/files?key=${(await keys.signer('ada'))(mine.file_id)}`, { method: 'POST' })
    expect(await problemOf(elsewhere)).toEqual({ status: 401, code: 'unauthorized' })
    expect(opened.server.lines.map((line) => JSON.stringify(line)).join()).not.toContain('key=')
  })

  test('is refused when the key is not for this file and this owner, and finds nothing that is gone', async () => {
    await using opened = await openFiles({ auth })
    const { url, keys } = opened
    const { body } = await post(url, formOf(['note.txt', 'Hi', 'text/plain']), asAda)
    const { file_id: id } = body
    const ask = async (key: string) => problemOf(await fetch(`${url}/files/${id}?key=${key}`))

    expect(await ask('')).toEqual({ status: 403, code: 'forbidden' })
    expect(await ask((await keys.signer('ada'))('another'))).toEqual({ status: 403, code: 'forbidden' })
    // Well made, for somebody who does not own it.
    expect(await ask((await keys.signer('bob'))(id))).toEqual({ status: 404, code: 'file_not_found' })
    const gone = '0192f3a1-7b2c-7def-8abc-0123456789ab'
    const deleted = await fetch(`${url}/files/${gone}?key=${(await keys.signer('ada'))(gone)}`)
    expect(await problemOf(deleted)).toEqual({ status: 404, code: 'file_not_found' })
  })
})

test('the routes are described', async () => {
  await using opened = await openFiles()

  const { paths } = openApiDocument(createFileRoutes(opened), {
    ...{ title: 'Test', version: '1', basePath: '', errors: {} },
  })

  expect(paths['/files']?.post).toMatchObject({
    requestBody: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['file'],
            properties: {
              file: { type: 'array', items: { type: 'string', format: 'binary' }, minItems: 1, maxItems: 10 },
            },
          },
        },
      },
    },
  })
  expect(Object.keys(Object(paths['/files/{id}']?.get).responses['200'].content).length).toBe(12)
})
