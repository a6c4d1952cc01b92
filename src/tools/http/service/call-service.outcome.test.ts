import { describe, expect, test } from 'vitest'
import { answerOutcome } from './call-service.ts'
import type { ServiceAnswer } from './service-http.ts'

const answer = (body: string | Buffer, contentType: string, more: Partial<ServiceAnswer> = {}): ServiceAnswer => ({
  status: 200,
  contentType,
  contentLength: null,
  retryAfter: null,
  body: Buffer.from(body),
  isCut: false,
  ...more,
})

describe('what the model reads of an answer', () => {
  test.each([
    ['JSON without whitespace', answer('{ "a": [1, 2] }', 'application/json; charset=utf-8'), '{"a":[1,2]}'],
    ['JSON of any kind', answer('{ "a": 1 }', 'application/problem+json'), '{"a":1}'],
    ['broken JSON as it is', answer('{ "a": ', 'application/json'), '{ "a": '],
    ['lines of JSON as they are', answer('{"a": 1}\n{"a": 2}', 'application/x-ndjson'), '{"a": 1}\n{"a": 2}'],
    ['text as it is', answer('a  b\n', 'text/plain'), 'a  b\n'],
    ['XML as it is', answer('<a> </a>', 'application/atom+xml'), '<a> </a>'],
    ['text without a byte order mark', answer('\ufeffa', 'text/csv'), 'a'],
    ['text in another encoding', answer(Buffer.from([0x47, 0xfc]), 'text/plain; charset=iso-8859-1'), 'Gü'],
    ['text in an encoding nobody knows', answer('ü', 'text/plain; charset=nonsense'), 'ü'],
    ['text without a type', answer('{ "a": 1 }', ''), '{"a":1}'],
    ['of an image what it is', answer(Buffer.from([0x89, 0x50]), 'image/png'), '[image/png, 2 bytes, not shown.]'],
    ['of bytes without a type what they are', answer(Buffer.from([0, 1, 2]), ''), '[Binary data, 3 bytes, not shown.]'],
    [
      'of bytes that were cut how many there are',
      answer('x', 'application/zip', { isCut: true }),
      '[application/zip, more than 1 MB, not shown.]',
    ],
    [
      'that the rest was cut',
      answer('[1, 2', 'application/json', { isCut: true }),
      '[1, 2\n[The answer is longer than 1 MB. The rest is left out.]',
    ],
    ['that there is no body', answer('', '', { status: 204 }), 'The service answered 204 No Content without a body.'],
    [
      'what a HEAD is about',
      answer('', 'text/html', { contentLength: 12 }),
      'The service answered 200 OK without a body (text/html, 12 bytes).',
    ],
  ])('%s', (_, given, content) => {
    expect(answerOutcome(given)).toEqual({ content, isError: false })
  })

  test.each([
    [
      'status and body',
      answer('{ "error": "no such user" }', 'application/json', { status: 404 }),
      'The service answered 404 Not Found: {"error":"no such user"}',
    ],
    ['status alone', answer('', '', { status: 500 }), 'The service answered 500 Internal Server Error.'],
    ['a status nobody knows', answer('', '', { status: 599 }), 'The service answered 599.'],
    ['a redirect to nowhere', answer('', '', { status: 302 }), 'The service answered 302 Found.'],
    [
      'the beginning of a long body',
      answer('x'.repeat(9_000), 'text/plain', { status: 400 }),
      `The service answered 400 Bad Request: ${'x'.repeat(2_000)} […]`,
    ],
  ])('of an error %s', (_, given, content) => {
    const passing = given.status >= 500 ? { isPassing: true } : {}
    expect(answerOutcome(given)).toEqual({ content, isError: true, ...passing })
  })
})
