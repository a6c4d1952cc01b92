import { fork } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

test('100 MB in one request cost the server less than 150 MB of memory', async () => {
  const child = fork(join(import.meta.dirname, 'testing', 'upload-server.ts'))
  const [{ port }] = await once(child, 'message')

  const upload = request({
    port,
    path: '/files',
    method: 'POST',
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
  })
  Readable.from(form(50_000_000, 50_000_000)).pipe(upload)
  const [response] = await once(upload, 'response')
  const answer = JSON.parse(await text(response))
  child.send('how much?')
  const [{ idle, peak }] = await once(child, 'message')
  await once(child, 'exit')

  expect(response.statusCode).toBe(201)
  expect(answer.files.map(({ bytes }: { bytes: number }) => bytes)).toEqual([50_000_000, 50_000_000])
  expect((peak - idle) / 1e6).toBeLessThan(150)
})

function* form(...sizes: number[]): Generator<Buffer> {
  for (const [i, size] of sizes.entries()) {
    yield Buffer.from(`--b\r\nContent-Disposition: form-data; name="file"; filename="${i}.pdf"\r\n\r\n`)
    // Noise, so that nothing can be clever about it.
    const chunk = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7919 + i) & 0xff))
    yield Buffer.from('%PDF-1.7\n')
    for (let sent = 9; sent < size; ) {
      const piece = chunk.subarray(0, Math.min(chunk.length, size - sent))
      sent += piece.length
      yield piece
    }
    yield Buffer.from('\r\n')
  }
  yield Buffer.from('--b--\r\n')
}
