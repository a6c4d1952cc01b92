import { expect, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import { openServiceHttp } from '../testing/open-service-http.ts'
import { createFetchFile } from './fetch-file.ts'
import type { ServiceAnswer } from './service-http.ts'

const never = new AbortController().signal
const answering = (answer: Partial<ServiceAnswer>) =>
  createFetchFile({
    send: async () => ({
      status: 200,
      contentType: 'application/pdf; x=1',
      contentLength: null,
      retryAfter: null,
      body: Buffer.from('%PDF-'),
      isCut: false,
      ...answer,
    }),
  })

test('returns the bytes, the type that the server names, and the name in the URL', async () => {
  expect(await answering({})('https://example.com/a/my%20report.pdf?x=1', never)).toEqual({
    content: Buffer.from('%PDF-'),
    mimeType: 'application/pdf',
    name: 'my report.pdf',
  })
  expect(await answering({ contentType: 'application/octet-stream' })('https://example.com/', never)).toMatchObject({
    mimeType: null,
    name: null,
  })
})

test.each([
  ['http://example.com/a.pdf', {}, 'invalid_request'],
  ['file:///etc/passwd', {}, 'invalid_request'],
  ['https://me:secret@example.com/a.pdf', {}, 'invalid_request'],
  ['nonsense', {}, 'invalid_request'],
  ['https://example.com/a.pdf', { status: 404 }, 'file_unreadable'],
  ['https://example.com/a.pdf', { isCut: true }, 'file_too_large'],
  ['https://example.com/a.pdf', { contentLength: 10_000_001 }, 'file_too_large'],
])('refuses %s %j with %s', async (url, answer, code) => {
  await expect(answering(answer)(url, never)).rejects.toMatchObject({ code })
})

test.each([
  'https://127.0.0.1/a.pdf',
  'https://[::1]/a.pdf',
  'https://169.254.169.254/latest',
  'https://internal/a.pdf',
])('does not connect to %s', async (url) => {
  const fetchFile = createFetchFile(openServiceHttp({ lookup: async () => ['10.0.0.7'] }))
  const refused = await fetchFile(url, never).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ServerError)
  expect(refused).toMatchObject({ code: 'file_unreadable', message: expect.stringContaining('private address') })
})
