import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { Route } from '../route.ts'
import {
  createManualClock,
  openRaw,
  problemOfText,
  route,
  startServer,
  statusOfText,
  type TestServerOptions,
  until,
} from '../testing/server-fixture.ts'
import type { LongBodyLimits } from './long-json.ts'
import { LONG_CHARS, LongText } from './long-text.ts'
import { createTempFolder } from './temp-file.ts'

const BODY_BYTES = 100_000
const GONE = { names: [], begun: 1, open: 0 }
const long: LongBodyLimits = {
  maxBytes: 2_000_000,
  maxTextChars: 1_000_000,
  textTooLong: () => new ServerError('file_too_large', 'A file is too large.'),
}

/** Answers with the body, after reading its long texts from disk. */
const echoLong = (line = 'POST /echo', onBody: (body: unknown) => void = () => {}): Route =>
  route(line, async (request, reply) => {
    const body = await request.json({ long })
    onBody(body)
    reply.json(200, await withTexts(body))
  })

async function withTexts(value: unknown): Promise<unknown> {
  if (value instanceof LongText) return `${value.chars} ${await text(value.pieces(1000))}`
  if (Array.isArray(value)) return Promise.all(value.map(withTexts))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(async ([key, member]) => [key, await withTexts(member)])
  return Object.fromEntries(await Promise.all(entries))
}

const start = ({ limits, ...more }: Partial<TestServerOptions> = {}) =>
  startServer({ routes: [echoLong()], limits: { bodyBytes: BODY_BYTES, ...limits }, ...more })

async function post(url: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}/echo`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  const content: unknown = JSON.parse(await answer.text())
  return { status: answer.status, content }
}

const head = (port: number, bytes: number, ...headers: string[]) =>
  [
    'POST /echo HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${bytes}`,
    ...headers,
    '',
    '',
  ].join('\r\n')

const file = randomBytes(90_000).toString('base64')
const shown = `${file.length} ${file}`

describe('a large body', () => {
  test('is read as it was sent, with its files from disk, and leaves nothing behind', async () => {
    const seen: unknown[] = []
    await using server = await start({ routes: [echoLong('POST /echo', (body) => seen.push(body))] })
    const body = { a: 'grüße', files: [{ content: file }, { content: file.slice(0, 50_000) }], b: [null, 1.5] }

    const answer = await post(server.url, JSON.stringify(body))

    expect(answer).toEqual({
      status: 200,
      content: { ...body, files: [{ content: shown }, { content: file.slice(0, 50_000) }] },
    })
    expect(seen[0]).toMatchObject({ files: [{ content: expect.any(LongText) }, { content: expect.any(String) }] })
    expect(await server.tempFiles()).toEqual(GONE)
  })

  test('may be one long text, and is too large if it has none', async () => {
    await using server = await start()

    expect(await post(server.url, JSON.stringify(file))).toEqual({ status: 200, content: shown })
    expect(await post(server.url, JSON.stringify(['x y'.repeat(40_000)]))).toMatchObject({ status: 413 })
  })

  test('is followed by other requests on the same connection', async () => {
    await using server = await start()
    const client = await openRaw(server.port)
    const body = JSON.stringify([file])

    client.send(`${head(server.port, body.length)}${body}${head(server.port, 3, 'Connection: close')}[2]`)

    expect((await client.closed()).match(/HTTP\/1.1 200 OK/g)).toHaveLength(2)
  })

  test('is requested if the client waits for "100 Continue"', async () => {
    await using server = await start()
    const client = await openRaw(server.port)
    const body = JSON.stringify([file])
    client.send(head(server.port, body.length, 'Expect: 100-continue', 'Connection: close'))
    await client.until(/^HTTP\/1.1 100 Continue\r\n\r\n$/)
    client.send(body)
    expect(statusOfText((await client.closed()).replace(/^.*\r\n\r\n(?=HTTP)/, ''))).toBe(200)

    const other = await openRaw(server.port)
    other.send(head(server.port, 2_000_001, 'Expect: 100-continue'))
    expect(problemOfText(await other.closed())).toMatchObject({ status: 413, max_bytes: 2_000_000 })
  })

  test('stays on disk only while its handler needs it', async () => {
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
    const seen: LongText[] = []
    const routes = [
      route('POST /echo', async (request, reply) => {
        const body = await request.json({ long })
        if (Array.isArray(body)) seen.push(body[0])
        request.releaseBody()
        await mayEnd
        reply.empty(204)
      }),
    ]
    await using server = await start({ routes })
    const answer = fetch(`${server.url}/echo`, {
      method: 'POST',
      body: JSON.stringify([file]),
      headers: { 'content-type': 'application/json' },
    })
    await until(() => seen.length === 1)

    await expect(withTexts(seen)).rejects.toThrow('already released')
    end()
    expect((await answer).status).toBe(204)
  })
})

describe('refusals of a large body', () => {
  const large = (more: string) => `{"file":"${file}",${more}}`

  test.each<[string, string | Buffer<ArrayBuffer>, string]>([
    ['broken JSON', large('"a":'), 'The body is not valid JSON.'],
    ['text behind it', `${large('"a":1')}x`, 'The body is not valid JSON (character 120017).'],
    ['a string without an end', `["${file}`, 'The body is not valid JSON: it ends inside a string.'],
    ['a prototype', large('"__proto__":1'), 'The body has the key "__proto__", which is not allowed.'],
    ['an escaped prototype', large('"\\u005f_proto__":1'), 'The body has the key "__proto__", which is not allowed.'],
    ['half a character', large('"a":"\\ud800"'), 'A string in the body contains half a character (a lone surrogate).'],
    ['too many levels', large(`"a":${'['.repeat(200)}`), 'The body is nested deeper than 100 levels.'],
    [
      'broken UTF-8',
      Buffer.concat([Buffer.from(large('"a":"')), Buffer.of(0xff, 0x22, 0x7d)]),
      'The body is not valid UTF-8.',
    ],
    [
      'broken UTF-8 in a file',
      Buffer.concat([Buffer.from(`["${file}","`), Buffer.of(0xff), Buffer.from(`${file.slice(0, 90_000)}"]`)]),
      'The body is not valid UTF-8.',
    ],
    ['a key as long as a file', `{"${file}":1}`, `A key of the body is longer than ${LONG_CHARS} characters.`],
  ])('%s is answered with 400', async (_what, body, detail) => {
    await using server = await start()

    expect(await post(server.url, body)).toMatchObject({ status: 400, content: { code: 'malformed_json', detail } })
    expect((await server.tempFiles()).open).toBe(0)
  })

  test('a text that stops being base64 is refused, with what to do', async () => {
    await using server = await start()

    expect(await post(server.url, JSON.stringify([`${file.repeat(3)} `]))).toMatchObject({
      status: 400,
      content: { code: 'invalid_request', detail: expect.stringMatching(/whole file as base64/) },
    })
    expect(await server.tempFiles()).toEqual(GONE)
  })

  test('clients cannot guess the placeholder of a file', async () => {
    await using server = await start()
    // The secret of the last request is useless for the next one.
    const guesses = ['0', `${'0'.repeat(32)}0`, '[object Object]']

    expect(await post(server.url, JSON.stringify([file, ...guesses]))).toEqual({
      status: 200,
      content: [shown, ...guesses],
    })
  })

  test('a file is refused as soon as it is too large, without its rest', async () => {
    await using server = await start()
    const client = await openRaw(server.port)

    client.send(`${head(server.port, 1_999_999)}["${'A'.repeat(1_000_001)}`)

    expect(problemOfText(await client.closed())).toMatchObject({ status: 413, code: 'file_too_large' })
    expect(await server.tempFiles()).toEqual(GONE)
  })

  test('the rest without files has the limit of other bodies and is refused early', async () => {
    await using server = await start()
    const client = await openRaw(server.port)

    client.send(`${head(server.port, 1_999_999)}["${file.repeat(3)}","${'x '.repeat(60_000)}`)

    expect(problemOfText(await client.closed())).toMatchObject({
      status: 413,
      code: 'body_too_large',
      max_bytes: BODY_BYTES,
      detail: expect.stringMatching(/without its files/),
    })
    expect(await server.tempFiles()).toEqual(GONE)
  })

  test('bytes in memory count with all other bodies, bytes on disk do not', async () => {
    await using server = await start({ limits: { allBodiesBytes: 400_000 } })
    const files = Array(8).fill(file)

    for (let i = 0; i < 2; i += 1) expect((await post(server.url, JSON.stringify(files))).status).toBe(200)
    await using small = await start({ limits: { allBodiesBytes: 50_000 } })
    expect(await post(small.url, JSON.stringify([file, 'x '.repeat(40_000)]))).toMatchObject({ status: 429 })
    expect(await post(small.url, '[1]')).toMatchObject({ status: 200 })
  })

  test('a full disk is reported', async () => {
    const full = Object.assign(new Error('full'), { code: 'ENOSPC' })
    const tempFolder = createTempFolder('/nowhere', {
      mkdir: async () => {
        throw full
      },
      rm: async () => {},
      open: async () => {
        throw full
      },
    })
    await using server = await start({ tempFolder })

    expect(await post(server.url, JSON.stringify([file]))).toMatchObject({
      status: 507,
      content: { code: 'storage_full' },
    })
  })
})

describe('a large body that does not arrive', () => {
  test('leaves nothing behind if its client disconnects', async () => {
    await using server = await start()
    const client = await openRaw(server.port)
    client.send(`${head(server.port, 1_999_999)}["${file.repeat(3)}`)
    await until(() => server.server.stats().inWork === 1)
    await expect.poll(() => server.tempFiles()).toEqual({ names: [], begun: 1, open: 1 })

    client.socket.destroy()

    await until(() => server.server.stats().inWork === 0)
    expect(await server.tempFiles()).toEqual(GONE)
    expect(server.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('is refused if it arrives too slowly, but has no total time limit', async () => {
    const clock = createManualClock()
    let size = 0
    const routes = [
      route('POST /echo', async (request, reply) => {
        request.raw.on('data', (chunk: Buffer) => {
          size += chunk.length
        })
        reply.json(200, await request.json({ long }))
      }),
    ]
    await using server = await start({ clock, routes })
    const client = await openRaw(server.port)
    client.send(`${head(server.port, 1_999_999)}["`)
    for (let i = 1; i <= 4; i += 1) {
      client.send('A'.repeat(240_000))
      await until(() => size >= i * 240_000)
      clock.advance(29_999)
    }
    expect(client.received()).toBe('')

    for (let i = 0; i < 3; i += 1) {
      clock.advance(30_000)
      await new Promise((resolve) => setImmediate(resolve))
    }

    expect(problemOfText(await client.until(/\}$/))).toMatchObject({ status: 408, code: 'request_timeout' })
    clock.advance(500)
    await client.closed()
    expect(await server.tempFiles()).toEqual(GONE)
  })
})
