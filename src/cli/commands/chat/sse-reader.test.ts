import { describe, expect, test } from 'vitest'
import { readSse, type SseMessage } from './sse-reader.ts'

async function read(pieces: Uint8Array[]): Promise<SseMessage[]> {
  async function* bytes() {
    yield* pieces
  }
  const messages: SseMessage[] = []
  for await (const message of readSse(bytes())) messages.push(message)
  return messages
}

const stream = ': hello\n\nid: s.1\ndata: {"a":"é"}\n\n: silence\n\ndata: b\ndata: c\n\nid:s.3\ndata:d\n\ndata: cut off'

describe('readSse', () => {
  test('gives each message with the last id, however the bytes are cut', async () => {
    const expected = [
      { id: 's.1', data: '{"a":"é"}' },
      { id: 's.1', data: 'b\nc' },
      { id: 's.3', data: 'd' },
    ]
    const bytes = new TextEncoder().encode(stream)
    for (let size = 1; size <= bytes.length; size += 1) {
      const pieces: Uint8Array[] = []
      for (let start = 0; start < bytes.length; start += size) pieces.push(bytes.slice(start, start + size))
      expect(await read(pieces)).toEqual(expected)
    }
  })

  test('reads CRLF as well, for servers behind strange proxies', async () => {
    expect(await read([new TextEncoder().encode('id: 1\r\ndata: x\r\n\r\n')])).toEqual([{ id: '1', data: 'x' }])
  })
})
