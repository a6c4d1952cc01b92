import { expect, test } from 'vitest'
import { createHttpReader } from './http-reader.ts'

function read(bytes: Buffer, sizes: (at: number) => number, bodyless = false): { seen: string[]; whole: boolean } {
  const seen: string[] = []
  const body: string[] = []
  const reader = createHttpReader(
    {
      head: (text) => seen.push(text.split('\r\n', 1).join()),
      body: (text) => body.push(text),
      end: () => seen.push(body.splice(0).join('')),
    },
    bodyless,
  )
  for (let at = 0; at < bytes.length; ) {
    const size = sizes(at)
    reader.feed(bytes.subarray(at, at + size))
    at += size
  }
  return { seen, whole: reader.close() }
}

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n\r\nwor\r\r\n0\r\n\r\n'
const sized = 'HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\ngone'

test.each([1, 2, 3, 7, 1000])('messages are the same however the bytes are cut (%d at a time)', (size) => {
  expect(read(Buffer.from(chunked + sized + chunked), () => size)).toEqual({
    seen: ['HTTP/1.1 200 OK', 'hello\r\nwor\r', 'HTTP/1.1 404 Not Found', 'gone', 'HTTP/1.1 200 OK', 'hello\r\nwor\r'],
    whole: true,
  })
})

test('a chunk is measured in bytes, not in characters', () => {
  const bytes = Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n€\r\n0\r\n\r\n')

  expect(read(bytes, () => 50).seen.map((text) => Buffer.from(text, 'latin1').toString())).toEqual([
    'HTTP/1.1 200 OK',
    '€',
  ])
})

test('a response without a length goes on until the connection ends', () => {
  expect(read(Buffer.from('HTTP/1.1 200 OK\r\n\r\nabc'), () => 10)).toEqual({
    seen: ['HTTP/1.1 200 OK', 'abc'],
    whole: true,
  })
})

test('a request without a length has no body', () => {
  expect(read(Buffer.from('GET /v1/models HTTP/1.1\r\n\r\n'), () => 10, true)).toEqual({
    seen: ['GET /v1/models HTTP/1.1', ''],
    whole: true,
  })
})

test('a connection that ends inside a chunk is noticed', () => {
  expect(read(Buffer.from(chunked.slice(0, -5)), () => 1000).whole).toBe(false)
})

test('bytes that are not HTTP are refused', () => {
  expect(() => read(Buffer.from('hello\r\n\r\n'), () => 100)).toThrow('not HTTP/1.x: "hello"')
})
