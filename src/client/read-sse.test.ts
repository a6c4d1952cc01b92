import { describe, expect, test } from 'vitest'
import { readSse, type SseMessage } from './read-sse.ts'

const options = { onBytes: () => {}, silenceMs: 10_000 }

/** Reads a text that comes in pieces of so many bytes. */
async function read(text: string, size: number): Promise<SseMessage[]> {
  const bytes = new TextEncoder().encode(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))
  const found: SseMessage[] = []
  for await (const message of readSse(ReadableStream.from(pieces), options)) found.push(message)
  return found
}

describe('a stream of server-sent events', () => {
  test.each([1, 2, 3, 7, 1_000])('is read alike in pieces of %d bytes', async (size) => {
    const text = 'id: a.1\nevent: tick\ndata: {"é":"😀"}\n\n: alive\n\ndata: one\ndata: two\n\n'

    expect(await read(text, size)).toEqual([
      { id: 'a.1', event: 'tick', data: '{"é":"😀"}' },
      { id: null, event: 'message', data: 'one\ntwo' },
    ])
  })

  test('may end its lines with CRLF and leave the space out', async () => {
    expect(await read('id:7\r\ndata:x\r\n\r\n', 3)).toEqual([{ id: '7', event: 'message', data: 'x' }])
  })

  test('may have a line of megabytes in small pieces, which takes no time that grows with its square', async () => {
    const long = 'x'.repeat(4_000_000)
    const [message] = await read(`data: ${long}\n\n`, 1_000)
    expect(message?.data === long).toBe(true)
  })

  test('drops a message that its end cut off', async () => {
    expect(await read('data: whole\n\nid: 2\ndata: ha', 4)).toEqual([{ id: null, event: 'message', data: 'whole' }])
  })

  test('is closed by who leaves it', async () => {
    let closed = false
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: more\n\n')),
      cancel: () => {
        closed = true
      },
    })

    for await (const _message of readSse(body, options)) break

    expect(closed).toBe(true)
  })

  test('tells of every sign of life, comments too', async () => {
    let signs = 0
    const pieces = [': a\n\n', ': b\n\n'].map((text) => new TextEncoder().encode(text))
    const counting = {
      ...options,
      onBytes: () => {
        signs += 1
      },
    }
    for await (const _message of readSse(ReadableStream.from(pieces), counting)) throw new Error('no message')

    expect(signs).toBe(2)
  })

  test('ends when it is silent for too long, and is closed', async () => {
    let closed = false
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: one\n\n')),
      cancel: () => {
        closed = true
      },
    })
    const found: string[] = []
    for await (const { data } of readSse(body, { ...options, silenceMs: 1 })) found.push(data)

    expect([found, closed]).toEqual([['one'], true])
  })
})
