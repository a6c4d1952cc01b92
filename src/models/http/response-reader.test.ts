import http from 'node:http'
import net from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HttpFramingError } from './framing-error.ts'
import { createResponseReader, type Progress } from './response-reader.ts'

interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

interface Reading {
  answer: Answer | null
  body: string
  bodyCalls: number
  progress: Progress
  error: unknown
}

/** Reads `pieces`, each from memory that is used for something else afterwards; `closes`: then the connection ends. */
function read(pieces: readonly Buffer[], closes = false): Reading {
  const reading: Reading = { answer: null, body: '', bodyCalls: 0, progress: 'open', error: null }
  const parts: Buffer[] = []
  const reader = createResponseReader({
    head({ status, headers }) {
      expect(reading.answer).toBe(null)
      reading.answer = { status, headers: { ...headers }, body: '' }
    },
    body(bytes) {
      expect(bytes.length).toBeGreaterThan(0)
      reading.bodyCalls += 1
      parts.push(Buffer.from(bytes))
    },
  })
  try {
    for (const piece of pieces) {
      const memory = Buffer.from(piece)
      reading.progress = reader.push(memory)
      memory.fill('#')
      if (reading.progress !== 'open') break
    }
    if (closes && reading.progress === 'open') {
      reader.close()
      reading.progress = 'last'
    }
  } catch (error) {
    reading.error = error
  }
  reading.body = Buffer.concat(parts).toString()
  if (reading.answer !== null) reading.answer.body = reading.body
  return reading
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')
/** Byte by byte; what is very long, in pieces that share no divisor with anything. */
function finely(bytes: Buffer): Buffer[] {
  const size = bytes.length > 5_000 ? 997 : 1
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((start, i) => bytes.subarray(start, at[i])).filter((piece) => piece.length > 0)
}

// What a server may say. Latin-1 for the heads, UTF-8 for the bodies.
const padding = fc.constantFrom('', ' ', '\t', ' \t  ')
const value = fc.stringMatching(/^[\t -~\x80-\xff]{0,30}$/)
const name = fc.constantFrom(
  'x-a',
  'X-A',
  'Content-Type',
  'SERVER',
  "x-!#$%&'*+.^_`|~9",
  'constructor',
  '__proto__',
  'Via',
)
const field = fc.tuple(name, padding, value, padding).map(([key, left, text, right]) => `${key}:${left}${text}${right}`)
const head = (lines: readonly string[]) => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')

const chunk = fc.record({
  data: fc.string({ unit: 'grapheme', maxLength: 40 }),
  zeros: fc.constantFrom('', '0', '000'),
  upper: fc.boolean(),
  extension: fc.constantFrom('', '', ';a', ';a=b;c', ';quoted="a;b, c"'),
})

const answers = fc
  .record({
    announced: fc.array(fc.constantFrom('100 Continue', '102 Processing', '103 Early Hints'), { maxLength: 2 }),
    version: fc.constantFrom('1.1', '1.1', '1.0'),
    status: fc.constantFrom(200, 201, 204, 304, 400, 429, 500, 599),
    reason: fc.constantFrom('', ' ', ' OK', ' Gr\xfc\xdfe aus Wien'),
    fields: fc.array(field, { maxLength: 6 }),
    connection: fc.constantFrom('', 'close', 'Keep-Alive', 'keep-alive, x'),
    framing: fc.constantFrom('length', 'chunked', 'close'),
    chunks: fc.array(chunk, { maxLength: 8 }),
    trailers: fc.array(field, { maxLength: 2 }),
  })
  .map((a) => {
    const data = a.chunks.map((c) => Buffer.from(c.data)).filter((bytes) => bytes.length > 0)
    const whole = Buffer.concat(data)
    const isEmpty = a.status === 204 || a.status === 304
    const lines = [`HTTP/${a.version} ${a.status}${a.reason}`, ...a.fields]
    if (a.connection !== '') lines.push(`Connection: ${a.connection}`)
    if (a.framing === 'length') lines.push(`content-LENGTH: ${whole.length}`)
    if (a.framing === 'chunked') lines.push('Transfer-encoding:Chunked')
    const pieces: Buffer[] = a.announced.map((status) => head([`HTTP/1.1 ${status}`, 'x-hint: 1']))
    pieces.push(head(lines))
    if (isEmpty) return { bytes: Buffer.concat(pieces), body: '' }
    if (a.framing !== 'chunked') return { bytes: Buffer.concat([...pieces, whole]), body: whole.toString() }
    const rest = a.chunks.filter((c) => c.data !== '')
    for (const [i, bytes] of data.entries()) {
      const size = bytes.length.toString(16)
      const { zeros = '', upper = false, extension = '' } = rest[i] ?? {}
      pieces.push(bytesOf(`${zeros}${upper ? size.toUpperCase() : size}${extension}\r\n`), bytes, bytesOf('\r\n'))
    }
    pieces.push(bytesOf(['0', ...a.trailers, '', ''].join('\r\n')))
    return { bytes: Buffer.concat(pieces), body: whole.toString() }
  })

/** What the server of the referee sends next. */
let pending: Buffer = Buffer.alloc(0)
const server = net.createServer((socket) => {
  const bytes = pending
  socket.on('error', () => {})
  socket.once('data', () => socket.end(bytes))
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())))

/** The same bytes, read by node:http from a real socket. */
function refereed(bytes: Buffer): Promise<Answer> {
  pending = bytes
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const { port } = address
  return new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port, agent: false }, (message) => {
      const parts: Buffer[] = []
      message.on('data', (part: Buffer) => parts.push(part))
      message.on('error', reject)
      message.on('end', () => {
        const headers = new Map<string, string>()
        for (let i = 0; i < message.rawHeaders.length; i += 2) {
          const key = (message.rawHeaders[i] ?? '').toLowerCase()
          const before = headers.get(key)
          const text = message.rawHeaders[i + 1] ?? ''
          headers.set(key, before === undefined ? text : `${before}, ${text}`)
        }
        const status = message.statusCode ?? 0
        resolve({ status, headers: Object.fromEntries(headers), body: Buffer.concat(parts).toString() })
      })
    })
    request.on('error', reject)
  })
}

describe('the reader of answers', () => {
  test('reads what node:http reads, wherever the bytes are cut', async () => {
    const property = fc.asyncProperty(
      answers,
      fc.array(fc.nat(), { maxLength: 8 }),
      async ({ bytes, body }, places) => {
        const answer = await refereed(bytes)
        expect(answer.body).toBe(body)
        for (const pieces of [[bytes], cut(bytes, places), finely(bytes)]) {
          const reading = read(pieces, true)
          expect([reading.error, reading.answer]).toEqual([null, answer])
        }
      },
    )
    await fc.assert(property, { numRuns: 400 })
  })

  test('gives the chunks of one read as one piece', () => {
    const start = bytesOf('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const chunks = bytesOf('3\r\none\r\n4;x\r\n two\r\n6\r\n three\r\n')
    expect(read([start, chunks, bytesOf('0\r\n\r\n')])).toMatchObject({
      body: 'one two three',
      bodyCalls: 1,
      progress: 'reusable',
    })
    expect(read([Buffer.concat([start, chunks, chunks])])).toMatchObject({
      body: 'one two threeone two three',
      bodyCalls: 1,
      progress: 'open',
    })
  })

  test.each<[string, string, Progress]>([
    ['HTTP/1.1 with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi', 'reusable'],
    ['HTTP/1.1 in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n', 'reusable'],
    ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', 'reusable'],
    ['HTTP/1.1 that closes', 'HTTP/1.1 200 OK\r\nconnection: x, Close\r\ncontent-length: 2\r\n\r\nhi', 'last'],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi', 'last'],
    ['HTTP/1.0 that stays', 'HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 2\r\n\r\nhi', 'reusable'],
    [
      'HTTP/1.0 in chunks, which it does not have',
      'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      'last',
    ],
    ['bytes behind the end of a length', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhiHTTP/1.1 200 OK', 'last'],
    ['bytes behind the last chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n\r\n', 'last'],
    ['bytes behind no content', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 2\r\n\r\nhi', 'last'],
  ])('%s: the connection is judged rightly', (_, text, progress) => {
    expect(read([bytesOf(text)])).toMatchObject({ progress, error: null })
    expect(read([bytesOf(text)]).body).toBe(text.includes('\r\n\r\nhi') && !text.includes('304') ? 'hi' : '')
  })

  const ok = 'HTTP/1.1 200 OK\r\n'
  const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`
  test.each<[string, string]>([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['one byte of another protocol', 'h'],
    ['an empty line before it', `\r\n${ok}\r\n`],
    ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['HTTP/1.2', 'HTTP/1.2 200 OK\r\n\r\n'],
    ['small letters', 'http/1.1 200 OK\r\n\r\n'],
    ['no status', 'HTTP/1.1\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a status of zeros', 'HTTP/1.1 000 OK\r\n\r\n'],
    ['a negative status', 'HTTP/1.1 -20 OK\r\n\r\n'],
    ['two spaces before the status', 'HTTP/1.1  200 OK\r\n\r\n'],
    ['NUL in the status line', 'HTTP/1.1 200 O\0K\r\n\r\n'],
    ['a status line without CR', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n'],
    ['a header without CR', `${ok}x: y\ncontent-length: 0\r\n\r\n`],
    ['CR inside a header', `${ok}x: a\rb\r\n\r\n`],
    ['NUL in a header', `${ok}x: a\0b\r\n\r\n`],
    ['a control character in a header', `${ok}x: a\x01b\r\n\r\n`],
    ['a header without a name', `${ok}: x\r\n\r\n`],
    ['a header without a colon', `${ok}content-length\r\n\r\n`],
    ['a space before the colon', `${ok}content-length : 5\r\n\r\nhello`],
    ['a name that is no token', `${ok}x(y): 1\r\n\r\n`],
    ['a folded header', `${ok}x: a\r\n b\r\n\r\n`],
    ['a folded header in the first place', `${ok} x: a\r\n\r\n`],
    ['a head that is too long', `${ok}x: ${'y'.repeat(70_000)}`],
    ['a head of too many lines', `${ok}${'x: y\r\n'.repeat(15_000)}`],
    ['blanks that take long to trim', `${ok}x:${' '.repeat(60_000)}\0\r\n\r\n`],
    ['announcements without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(4_000)],
    ['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n'],
    ['two lengths', `${ok}content-length: 5\r\ncontent-length: 6\r\n\r\nhello`],
    ['the same length twice', `${ok}content-length: 5\r\nContent-Length: 5\r\n\r\nhello`],
    ['a list of lengths', `${ok}content-length: 5, 5\r\n\r\nhello`],
    ['an empty length', `${ok}content-length:\r\n\r\nhello`],
    ['a negative length', `${ok}content-length: -5\r\n\r\nhello`],
    ['a length with a sign', `${ok}content-length: +5\r\n\r\nhello`],
    ['a length in hex', `${ok}content-length: 0x5\r\n\r\nhello`],
    ['a length that overflows', `${ok}content-length: 18446744073709551621\r\n\r\nhello`],
    ['a length and chunks', `${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`],
    ['an unknown transfer coding', `${ok}transfer-encoding: gzip\r\n\r\nhello`],
    ['a coding around the chunks', `${ok}transfer-encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`],
    [
      'chunks in chunks',
      `${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    ],
    ['chunks that are not the last coding', `${ok}transfer-encoding: chunked, identity\r\n\r\nhello`],
    ['an empty transfer coding', `${ok}transfer-encoding:\r\n\r\nhello`],
    ['a chunk without a size', `${chunked}\r\nhello\r\n0\r\n\r\n`],
    ['only an extension', `${chunked};a=b\r\nhello\r\n0\r\n\r\n`],
    ['a negative chunk', `${chunked}-5\r\nhello\r\n0\r\n\r\n`],
    ['a chunk size with a prefix', `${chunked}0x5\r\nhello\r\n0\r\n\r\n`],
    ['a chunk size with a blank before it', `${chunked} 5\r\nhello\r\n0\r\n\r\n`],
    ['a chunk size with a blank behind it', `${chunked}5 \r\nhello\r\n0\r\n\r\n`],
    ['a chunk size that overflows', `${chunked}10000000000000005\r\nhello\r\n0\r\n\r\n`],
    ['a chunk size without CR', `${chunked}5\nhello\r\n0\r\n\r\n`],
    ['a chunk size without LF', `${chunked}5\rhello\r\n0\r\n\r\n`],
    ['LF in an extension', `${chunked}5;a\nb\r\nhello\r\n0\r\n\r\n`],
    ['NUL in an extension', `${chunked}5;\0\r\nhello\r\n0\r\n\r\n`],
    ['an extension without end', `${chunked}5;${'x'.repeat(20_000)}`],
    ['a chunk that is longer than it says', `${chunked}5\r\nhello!\r\n0\r\n\r\n`],
    ['a chunk that is shorter than it says', `${chunked}6\r\nhello\r\n0\r\n\r\n`],
    ['a chunk without LF at its end', `${chunked}5\r\nhello\r0\r\n\r\n`],
    ['LF in a trailer', `${chunked}5\r\nhello\r\n0\r\nx: a\nb: c\r\n\r\n`],
    ['CR in a trailer', `${chunked}5\r\nhello\r\n0\r\nx: a\rb\r\n\r\n`],
    ['trailers without end', `${chunked}5\r\nhello\r\n0\r\n${'x: y\r\n'.repeat(5_000)}`],
    ['CR without LF at the very end', `${chunked}5\r\nhello\r\n0\r\n\rx`],
  ])('refuses %s, and gives nothing of it as content', (_, text) => {
    for (const pieces of [[bytesOf(text)], finely(bytesOf(text))]) {
      const reading = read(pieces)
      expect(reading.error).toBeInstanceOf(HttpFramingError)
      expect(reading.error).toMatchObject({ code: 'BAD_HTTP' })
      // A chunk that lies about its length ends in the wrong place, but not outside of what it claims.
      expect(['', 'h', 'he', 'hel', 'hell', 'hello', 'hello\r']).toContain(reading.body)
    }
  })

  test.each([
    ['a length', `${ok}content-length: 5\r\n\r\nhello`],
    ['chunks', `HTTP/1.1 100 Continue\r\n\r\n${chunked}2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nx: y\r\n\r\n`],
  ])('an end of the connection anywhere inside an answer with %s is noticed', (_, text) => {
    const bytes = bytesOf(text)
    for (let end = 0; end < bytes.length; end += 1) {
      const reading = read([bytes.subarray(0, end)], true)
      expect(reading.error).toEqual(new HttpFramingError('the connection ended in the middle of it'))
      expect('hello'.startsWith(reading.body)).toBe(true)
    }
    expect(read([bytes], true)).toMatchObject({ error: null, body: 'hello' })
  })

  test('an answer without a length ends with the connection, but not inside its head', () => {
    const start = `${ok}x: y\r\n\r\n`
    for (let end = 0; end < start.length; end += 1) {
      expect(read([bytesOf(start.slice(0, end))], true).error).toBeInstanceOf(HttpFramingError)
    }
    expect(read([bytesOf(start)], true)).toMatchObject({ error: null, body: '', progress: 'last' })
    expect(read([bytesOf(start), bytesOf('hel'), bytesOf('lo')], true)).toMatchObject({ error: null, body: 'hello' })
  })
})
