import { describe, expect, test } from 'vitest'
import { boundedFetch } from './http-transport.ts'

const answering = (type: string, chunks: string[]) =>
  boundedFetch(async () => {
    const body = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)))
    return new Response(body, { status: 201, headers: { 'content-type': type, 'mcp-session-id': 's' } })
  }, 10)

describe('boundedFetch', () => {
  test('passes on an answer within the limit, with its status and headers', async () => {
    const response = await answering('application/json', ['12345', '67890'])('http://x')

    expect([response.status, response.headers.get('mcp-session-id'), await response.text()]).toEqual([
      201,
      's',
      '1234567890',
    ])
  })

  test('breaks off an answer beyond the limit', async () => {
    const response = await answering('application/json', ['12345', '678901'])('http://x')

    await expect(response.text()).rejects.toThrow('The answer is longer than')
  })

  test('lets a stream of events go on while each event is within the limit', async () => {
    const events = ['data: 1\n', '\ndata: 2\r\n\r\n', 'data: 3\n\n']
    const response = await answering('text/event-stream; charset=utf-8', events)('http://x')
    expect(await response.text()).toBe(events.join(''))

    const long = await answering('text/event-stream', ['data: 1\n\n', 'data: 23', '4567\n\n'])('http://x')
    await expect(long.text()).rejects.toThrow('The answer is longer than')
  })
})
