import { fork } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

async function upload(kind: 'form' | 'json', path: string, headers: Record<string, string | number>, body: Readable) {
  const child = fork(join(import.meta.dirname, 'testing', 'upload-server.ts'), [kind])
  const [{ port }] = await once(child, 'message')

  const sending = request({ port, path, method: 'POST', headers })
  body.pipe(sending)
  const [response] = await once(sending, 'response')
  const answer = JSON.parse(await text(response))
  child.send('how much?')
  const [{ idle, peak, longestMs }] = await once(child, 'message')
  await once(child, 'exit')
  return { status: response.statusCode, answer, megabytes: (peak - idle) / 1e6, longestMs }
}

test('100 MB in one form cost the server less than 150 MB of memory', async () => {
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' }
  const { status, answer, megabytes } = await upload(
    'form',
    '/files',
    headers,
    Readable.from(form(50_000_000, 50_000_000)),
  )

  expect(status).toBe(201)
  expect(answer.files.map(({ bytes }: { bytes: number }) => bytes)).toEqual([50_000_000, 50_000_000])
  expect(megabytes).toBeLessThan(150)
})

test('100 MB in one JSON body cost the server less than 100 MB of memory, and nobody else their turn', async () => {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': lengthOf(json()) }
  const { status, answer, megabytes, longestMs } = await upload(
    'json',
    '/sessions/large/messages',
    headers,
    Readable.from(json()),
  )

  expect({ status, answer }).toMatchObject({ status: 202, answer: { run_id: expect.any(String) } })
  // It took 500 MB and 400 ms while the body was held.
  expect(megabytes).toBeLessThan(100)
  expect(longestMs).toBeLessThan(100)
})

/** Noise, so that nothing can be clever about it. */
const noise = (size: number, seed: number): Buffer =>
  Buffer.from(Array.from({ length: size }, (_, at) => (at * 7919 + seed) & 0xff))

function* form(...sizes: number[]): Generator<Buffer> {
  for (const [i, size] of sizes.entries()) {
    yield Buffer.from(`--b\r\nContent-Disposition: form-data; name="file"; filename="${i}.pdf"\r\n\r\n`)
    const chunk = noise(100_000, i)
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

/** Ten files of 10 MB, as base64. */
function* json(): Generator<Buffer> {
  const chunk = noise(100_002, 1)
  chunk.write('%PDF-1.7\n')
  const piece = Buffer.from(chunk.toString('base64'))
  const last = Buffer.from(chunk.subarray(0, 10_000_000 % chunk.length).toString('base64'))
  yield Buffer.from('{"message":"Read.","files":[')
  for (let i = 0; i < 10; i += 1) {
    yield Buffer.from(`${i === 0 ? '' : ','}{"mime_type":"application/pdf","filename":"${i}.pdf","content":"`)
    for (let sent = chunk.length; sent <= 10_000_000; sent += chunk.length) yield piece
    yield last
    yield Buffer.from('"}')
  }
  yield Buffer.from(']}')
}

function lengthOf(chunks: Iterable<Buffer>): number {
  let size = 0
  for (const chunk of chunks) size += chunk.length
  return size
}
