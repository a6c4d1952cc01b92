import { describe, expect, test } from 'vitest'
import { type AnswerHandler, AnswerReader } from './answer-reader.ts'

interface Read {
  status: number
  headers: Record<string, unknown>
  body: string
  /** Of the end: `open` when the reader waits for more. */
  end: 'kept' | 'last' | 'open' | 'closed'
  keptMs: number | null
}

/** Reads `text`, cut at the given places, and then the end of the connection. */
function read(text: string, cuts: readonly number[] = []): Read {
  const got: Read = { status: 0, headers: {}, body: '', end: 'open', keptMs: null }
  const handler: AnswerHandler = {
    isReused: false,
    onRequestStart() {},
    onResponseStarted() {},
    onResponseStart(_, status, headers) {
      Object.assign(got, { status, headers: { ...headers } })
    },
    onResponseData(_, bytes) {
      got.body += bytes.toString('latin1')
    },
    onResponseEnd() {},
    onResponseError() {},
  }
  const reader = new AnswerReader(handler, { pause() {}, resume() {}, abort() {} })
  const bytes = Buffer.from(text, 'latin1')
  const shared = Buffer.alloc(bytes.length, 'X')
  for (const [i, from] of [0, ...cuts].entries()) {
    const size = bytes.copy(shared, 0, from, cuts[i] ?? bytes.length)
    if (!reader.isOver) reader.push(shared, size)
    else if (size > 0) reader.isReusable = false
  }
  got.keptMs = reader.keptMs
  if (reader.isOver) got.end = reader.isReusable ? 'kept' : 'last'
  else if (reader.close()) got.end = 'closed'
  return got
}

const ok = 'HTTP/1.1 200 OK\r\n'
const answers: [string, string, Partial<Read>][] = [
  ['a length', `${ok}Content-Length: 5\r\n\r\nhello`, { body: 'hello', end: 'kept' }],
  ['a length of zero', `${ok}content-length: 0\r\n\r\n`, { body: '', end: 'kept' }],
  ['less than its length', `${ok}content-length: 5\r\n\r\nhell`, { body: 'hell', end: 'open' }],
  ['no length', `${ok}\r\nhello`, { body: 'hello', end: 'closed' }],
  [
    'chunks with extensions and trailers',
    `${ok}transfer-encoding: Chunked\r\n\r\n3;a=b;c="d"\r\nhel\r\n0002\r\nlo\r\nA\r\n0\r\n\r\n 1\r\n2\r\n0;x\r\nt: 1\r\nu: \xe9\r\n\r\n`,
    { body: 'hello0\r\n\r\n 1\r\n2', end: 'kept' },
  ],
  ['chunks without an end', `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`, { body: 'hello', end: 'open' }],
  ['half a trailer', `${ok}transfer-encoding: chunked\r\n\r\n0\r\nt: `, { body: '', end: 'open' }],
  ['connection: close', `${ok}connection: x, Close\r\ncontent-length: 1\r\n\r\nx`, { body: 'x', end: 'last' }],
  ['bytes behind its end', `${ok}content-length: 1\r\n\r\nxy`, { body: 'x', end: 'last' }],
  ['bytes behind its chunks', `${ok}transfer-encoding: chunked\r\n\r\n0\r\n\r\n\r\n`, { body: '', end: 'last' }],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx', { body: 'x', end: 'last' }],
  [
    'HTTP/1.0 that is kept',
    'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nKeep-Alive: timeout=5, max=9\r\ncontent-length: 1\r\n\r\nx',
    { body: 'x', end: 'kept', keptMs: 5_000 },
  ],
  [
    'chunks in HTTP/1.0',
    'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    { body: '', end: 'last' },
  ],
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', end: 'kept' }],
  ['304 with a length', 'HTTP/1.1 304\r\ncontent-length: 5\r\n\r\n', { status: 304, body: '', end: 'last' }],
  [
    'informational answers before it',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\ncontent-length: 9\r\n\r\n${ok}content-length: 1\r\n\r\nx`,
    { headers: { 'content-length': '1' }, body: 'x', end: 'kept' },
  ],
  [
    'headers of all kinds',
    `HTTP/1.1 404 N\xf6\r\nX: \t a b\t \r\nx:\r\n__proto__: \xe9\r\nx: c:d\r\n\r\n`,
    {
      status: 404,
      headers: Object.fromEntries([
        ['x', ['a b', '', 'c:d']],
        ['__proto__', '\xe9'],
      ]),
      body: '',
      end: 'closed',
    },
  ],
  ['half a head', 'HTTP/1.1 200 OK\r\nx: y\r\n', { status: 0, body: '', end: 'open' }],
]

describe('an answer', () => {
  test.each(answers)('with %s is read, wherever it is cut', (_, text, expected) => {
    const whole = read(text)
    expect(whole).toMatchObject(expected)
    for (let first = 0; first <= text.length; first += 1) {
      expect(read(text, [first])).toEqual(whole)
      for (let second = first; second <= text.length; second += 7) expect(read(text, [first, second])).toEqual(whole)
    }
    expect(
      read(
        text,
        Array.from(text, (_, i) => i),
      ),
    ).toEqual(whole)
  })

  test.each([
    ['head', `${ok}x: y`, 'z'.repeat(1_000)],
    ['extension', `${ok}transfer-encoding: chunked\r\n\r\n1;`, 'x'.repeat(1_000)],
    ['size', `${ok}transfer-encoding: chunked\r\n\r\n`, '0'],
    ['list of trailers', `${ok}transfer-encoding: chunked\r\n\r\n0\r\n`, 'x: y\r\n'],
  ])('with a %s that never ends is refused', (_, beginning, more) => {
    const text = beginning + more.repeat(70_000 / more.length)
    const cuts = Array.from({ length: text.length / 500 }, (_, i) => i * 500)
    expect(() => read(text, cuts)).toThrow(/^The answer is not valid HTTP: /)
  })

  test('says what is wrong', () => {
    const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`
    const wrong = [
      'SSH-2.0',
      'HTTP/1.1 2000 OK\r\n\r\n',
      'HTTP/1.1 101 Switching\r\n\r\n',
      `${ok}x: \0`,
      `${ok}x\r\n\r\n`,
      `${ok}content-length: 1, 1\r\n\r\n`,
      `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
      `${ok}transfer-encoding: gzip, chunked\r\n\r\n`,
      `${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`,
      `${chunked}-1\r\n`,
      `${chunked}10000000000000\r\n`,
      `${chunked}1\r\nxy`,
      `${chunked}1\r\r`,
      `${chunked}1;\0`,
    ]
    const said = wrong.map((text) => {
      try {
        read(text)
        return 'nothing'
      } catch (error) {
        return String(error).replace('BadAnswer: The answer is not valid HTTP: ', '')
      }
    })
    expect(said).toEqual([
      'it does not begin with HTTP/1.1.',
      'its first line has no status.',
      'it changes the protocol.',
      'its head has a character that is not allowed.',
      'a header has no valid name.',
      'its length is not clear.',
      'it gives its length in two ways.',
      'its transfer encoding is unknown.',
      'its transfer encoding is unknown.',
      'a chunk has no valid size.',
      'a chunk is too large.',
      'a chunk is longer than it says.',
      'a line does not end with CR LF.',
      'a line has a character that is not allowed.',
    ])
  })
})
