import { describe, expect, test } from 'vitest'
import {
  createManualClock,
  echo,
  openRaw,
  problemOfText,
  route,
  startServer,
  statusOfText,
  type TestServerOptions,
} from '../testing/server-fixture.ts'

const start = (more: Partial<TestServerOptions> = {}) => startServer({ routes: [echo('POST /echo')], ...more })

const head = (port: number, ...headers: string[]) =>
  ['POST /echo HTTP/1.1', `Host: 127.0.0.1:${port}`, ...headers, '', ''].join('\r\n')

async function post(url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } }
  const answer = await fetch(`${url}/echo`, init)
  const content: Record<string, unknown> = JSON.parse(await answer.text())
  return { status: answer.status, content }
}

describe('JSON bodies', () => {
  test('are read whole, in one piece or in many', async () => {
    await using server = await start()
    const body = { text: 'grüße 😀'.repeat(20_000) }

    expect(await post(server.url, '{"a":[1]}')).toEqual({ status: 200, content: { body: { a: [1] } } })
    expect(await post(server.url, JSON.stringify(body))).toEqual({ status: 200, content: { body } })
    const client = await openRaw(server.port)
    client.send(head(server.port, 'Content-Type: application/json', 'Transfer-Encoding: chunked', 'Connection: close'))
    for (const piece of ['{"a"', ':', '1}']) client.send(`${piece.length.toString(16)}\r\n${piece}\r\n`)
    client.send('0\r\n\r\n')
    expect(await client.closed()).toMatch(/^HTTP\/1.1 200 OK\r\n.*\{"body":\{"a":1\}\}$/s)
  })

  test.each([
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json; charset="UTF-8"',
  ])('may have the content type %s', async (type) => {
    await using server = await start()

    expect(await post(server.url, '{}', { 'content-type': type })).toEqual({ status: 200, content: { body: {} } })
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/json\t; charset=utf-8',
    'application/json, text/plain',
    'application/json; charset=utf-8; boundary=x',
    'application/jsonp',
    'text/plain; application/json',
    'application/merge-patch+json',
    '',
  ])('are refused with the content type %j', async (type) => {
    await using server = await start()
    const client = await openRaw(server.port)

    client.send(`${head(server.port, `Content-Type: ${type}`, 'Content-Length: 2', 'Connection: close')}{}`)

    const answer = await client.closed()
    expect(statusOfText(answer)).toBe(415)
    expect(problemOfText(answer)).toMatchObject({ code: 'unsupported_media_type', instance: '/echo' })
  })

  test('are refused without a content type, or compressed', async () => {
    await using server = await start()
    const client = await openRaw(server.port)
    client.send(`${head(server.port, 'Content-Length: 2', 'Connection: close')}{}`)

    expect(problemOfText(await client.closed())).toMatchObject({
      status: 415,
      detail: 'The request has no Content-Type; send application/json.',
    })
    expect(await post(server.url, '{}', { 'content-encoding': 'gzip' })).toMatchObject({ status: 415 })
    expect(await post(server.url, '{}', { 'content-encoding': 'identity' })).toMatchObject({ status: 200 })
  })

  test.each([
    ['nothing', ''],
    ['broken JSON', '{"a":'],
    ['broken UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
    ['an encoded surrogate', new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['half a character', '"\\ud800"'],
    ['too many levels', '['.repeat(200)],
    ['a prototype', '{"__proto__":1}'],
    ['two values', '{}{}'],
  ])('%s is answered with 400', async (_name, body) => {
    await using server = await start()

    expect(await post(server.url, body)).toMatchObject({ status: 400, content: { code: 'malformed_json' } })
  })

  test('a BOM is ignored', async () => {
    await using server = await start()

    expect(await post(server.url, '\ufeff{}')).toEqual({ status: 200, content: { body: {} } })
  })
})

describe('body limits', () => {
  const limits = { bodyBytes: 100_000 }

  test('a body at the limit is read, one byte more is refused', async () => {
    await using server = await start({ limits })
    const json = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))

    expect((await post(server.url, json(100_000))).status).toBe(200)
    expect(await post(server.url, json(100_001))).toMatchObject({
      status: 413,
      content: { code: 'body_too_large', max_bytes: 100_000 },
    })
  })

  test('a body with a Content-Length above the limit is refused before it is sent', async () => {
    await using server = await start({ limits })
    const client = await openRaw(server.port)

    client.send(head(server.port, 'Content-Type: application/json', 'Content-Length: 100001'))

    const answer = await client.closed()
    expect(statusOfText(answer)).toBe(413)
    expect(answer).toMatch(/^connection: close\r$/im)
  })

  test('a client that waits for "100 Continue" is told to go on, or is refused before it sends', async () => {
    await using server = await start({ limits })
    const expecting = (bytes: number) =>
      head(
        server.port,
        'Content-Type: application/json',
        `Content-Length: ${bytes}`,
        'Expect: 100-continue',
        'Connection: close',
      )

    const small = await openRaw(server.port)
    small.send(expecting(2))
    await small.until(/^HTTP\/1.1 100 Continue\r\n\r\n$/)
    small.send('{}')
    expect(await small.closed()).toMatch(/\r\n\r\nHTTP\/1.1 200 OK\r\n/)
    const large = await openRaw(server.port)
    large.send(expecting(100_001))
    expect(statusOfText(await large.closed())).toBe(413)
  })

  test.each([
    ['control', 64 * 1024],
    ['message', 1_000_000],
    ['files', 10_000_000],
  ] as const)('a route that takes %s reads %d bytes, whether they are announced or not', async (body, max) => {
    let calls = 0
    const count = route(
      'POST /echo',
      async (request, reply) => {
        calls += 1
        reply.json(200, { length: JSON.stringify(await request.json()).length })
      },
      { body },
    )
    await using server = await startServer({ routes: [count], limits: { bodyBytes: 10_000_000 } })
    const json = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))
    const inPieces = (text: string) => ({
      method: 'POST',
      body: new Blob([text]).stream(),
      headers: { 'content-type': 'application/json' },
      duplex: 'half' as const,
    })
    const refused = { status: 413, content: { code: 'body_too_large', max_bytes: max } }

    expect(await post(server.url, json(max))).toMatchObject({ status: 200, content: { length: max } })
    expect(await post(server.url, json(max + 1))).toMatchObject(refused)
    // If the Content-Length is too large, the request does not even reach its route, unless the route accepts files.
    expect(calls).toBe(body === 'files' ? 2 : 1)
    const sent = await fetch(`${server.url}/echo`, inPieces(json(max + 1)))
    expect({ status: sent.status, content: await sent.json() }).toMatchObject(refused)
  })

  test('a setting can make the limits of all routes smaller', async () => {
    await using server = await startServer({ routes: [echo('POST /echo', { body: 'message' })], limits })

    expect(await post(server.url, JSON.stringify('x'.repeat(99_999)))).toMatchObject({
      status: 413,
      content: { max_bytes: 100_000 },
    })
  })

  test('a body of more than 100,000 values is refused while it is read', async () => {
    await using server = await start()

    expect(await post(server.url, `[${'0,'.repeat(99_998)}0]`)).toMatchObject({ status: 200 })
    expect(await post(server.url, `[${'0,'.repeat(99_999)}0]`)).toMatchObject({
      status: 413,
      content: { code: 'body_too_large', max_values: 100_000 },
    })
    const client = await openRaw(server.port)
    client.send(head(server.port, 'Content-Type: application/json', 'Content-Length: 9000000'))
    client.send(`[${'0,'.repeat(100_000)}`)
    // The rest never arrives.
    expect(problemOfText(await client.closed())).toMatchObject({ status: 413, max_values: 100_000 })
  })

  test('an endless body is refused soon after the limit, and the connection is closed', async () => {
    await using server = await start({ limits })
    const client = await openRaw(server.port)
    client.send(head(server.port, 'Content-Type: application/json', 'Transfer-Encoding: chunked'))
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const flood = () => {
      while (!client.socket.destroyed && client.socket.write(chunk));
    }
    client.socket.on('drain', flood)
    flood()

    const answer = await client.closed()

    expect(problemOfText(answer)).toMatchObject({ status: 413, code: 'body_too_large' })
    // Some bytes may be in the kernel's buffers. The server read a few chunks, and then at most 1 MiB.
    expect(client.socket.bytesWritten - client.socket.writableLength).toBeLessThan(30_000_000)
  })

  test('a client that is still sending gets to see the refusal', async () => {
    await using server = await start({ limits })

    expect(await post(server.url, 'x'.repeat(900_000))).toMatchObject({ status: 413 })
    expect(await post(server.url, 'x'.repeat(900_000), { 'content-type': 'text/plain' })).toMatchObject({ status: 415 })
  })

  test('all bodies together have a limit too', async () => {
    await using server = await start({ limits: { allBodiesBytes: 50_000 } })

    expect(await post(server.url, JSON.stringify('x'.repeat(60_000)))).toMatchObject({ status: 429 })
    expect((await post(server.url, JSON.stringify('x'.repeat(40_000)))).status).toBe(200)
    expect((await post(server.url, JSON.stringify('x'.repeat(40_000)))).status).toBe(200)
  })

  test('a body that arrives too slowly is refused after the grace time', async () => {
    const clock = createManualClock()
    const { routes, arrived } = counting(3)
    await using server = await start({ clock, routes })
    const client = await openRaw(server.port)
    client.send(head(server.port, 'Content-Type: application/json', 'Content-Length: 1000'))
    client.send('[1,')
    await arrived

    clock.advance(9_999)
    expect(client.received()).toBe('')
    clock.advance(1)
    const answer = await client.until(/\}$/)
    expect(problemOfText(answer)).toMatchObject({ status: 408, code: 'request_timeout' })
    clock.advance(500)
    await client.closed()
  })

  test('a body that arrives fast enough has thirty seconds', async () => {
    const clock = createManualClock()
    const { routes, arrived } = counting(20_000)
    await using server = await start({ clock, routes })
    const client = await openRaw(server.port)
    client.send(head(server.port, 'Content-Type: application/json', 'Content-Length: 1000000'))
    client.send(`[${' '.repeat(20_000)}`)
    await arrived

    clock.advance(29_999)
    expect(client.received()).toBe('')
    clock.advance(1)
    expect(statusOfText(await client.until(/\}$/))).toBe(408)
    clock.advance(500)
    await client.closed()
  })
})

/** An echo that reports when a number of bytes has arrived. */
function counting(bytes: number) {
  const { promise: arrived, resolve } = Promise.withResolvers<void>()
  let seen = 0
  const counted = route('POST /echo', async (request, reply) => {
    request.raw.on('data', (chunk: Buffer) => {
      seen += chunk.length
      if (seen >= bytes) resolve()
    })
    reply.json(200, await request.json())
  })
  return { routes: [counted], arrived }
}
