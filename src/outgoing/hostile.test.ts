// Answers that are not valid HTTP/1.1, or that could be read in two ways.

import { afterAll, describe, expect, test } from 'vitest'
import { createConnections } from './connections.ts'
import { ask } from './testing/ask.ts'
import { listenRaw } from './testing/raw-server.ts'

let says = ''
const server = await listenRaw((socket) => socket.end(Buffer.from(says, 'latin1')))
const connections = createConnections()
afterAll(async () => {
  connections.close()
  await server.close()
})

const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`

describe('an answer', () => {
  test.each<[string, string]>([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['one byte of another protocol', 'h'],
    ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['HTTP/1.2', 'HTTP/1.2 200 OK\r\n\r\n'],
    ['small letters', 'http/1.1 200 OK\r\n\r\n'],
    ['no status', 'HTTP/1.1\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a status of zeros', 'HTTP/1.1 000 OK\r\n\r\n'],
    ['a negative status', 'HTTP/1.1 -20 OK\r\n\r\n'],
    ['two spaces before the status', 'HTTP/1.1  200 OK\r\n\r\n'],
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
  ])('with %s is refused, and no part of it is read as content', async (_, text) => {
    says = text
    const { outcome, received } = ask(connections.pool({ proxyVariables: null }), `http://127.0.0.1:${server.port}/`)
    expect((await outcome).failure).toMatch(/^(BAD_HTTP|ECONNRESET)$/)
    // A chunk with a wrong length ends in the wrong place, but never beyond that length.
    expect(received()).toBeLessThanOrEqual('hello\r'.length)
  })
})
