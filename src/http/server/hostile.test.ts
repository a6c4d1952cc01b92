// Input of hostile or broken clients over raw sockets. It is answered with a problem or the connection is cut. Other clients are never
// affected.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { metricsText } from '../metrics/metrics.ts'
import {
  echo,
  exchange,
  openRaw,
  problemOfText,
  route,
  startServer,
  statusOfText,
  type TestServerOptions,
  turn,
  until,
} from '../testing/server-fixture.ts'

const hello = route('GET /hello', (_request, reply) => reply.json(200, 'hello'))
const byId = route('GET /items/:id', (request, reply) => reply.json(200, request.params))
const start = (more: Partial<TestServerOptions> = {}) =>
  startServer({ routes: [hello, byId, echo('POST /echo')], ...more })

const lines = (port: number, first: string, ...headers: string[]) =>
  [first, `Host: 127.0.0.1:${port}`, ...headers, '', ''].join('\r\n')

async function isAlive(server: { url: string }): Promise<boolean> {
  return (await (await fetch(`${server.url}/hello`)).json()) === 'hello'
}

describe('invalid HTTP', () => {
  test.each([
    ['nonsense', 'hello there\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['a NUL in the path', 'GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: x\0\r\n\r\n'],
    ['a bare CR', 'GET / HTTP/1.1\r\nHost: x\rX-A: b\r\n\r\n'],
    ['two lengths', 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a length and chunks',
      'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'chunks that are not the last coding',
      'POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n',
    ],
    ['a negative length', 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
    ['a length that overflows', 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('%s is a problem with status 400', async (_name, text) => {
    await using server = await start()

    const answer = await exchange(server.port, text)

    expect(problemOfText(answer)).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(answer).toMatch(/^connection: close\r$/im)
    expect(await isAlive(server)).toBe(true)
  })

  test('TLS on a plain port gets a hint', async () => {
    await using server = await start()

    const answer = await exchange(server.port, new Uint8Array([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]))

    expect(problemOfText(answer)).toMatchObject({
      detail: 'This port speaks plain HTTP; use http:// instead of https://.',
    })
  })

  test('a refusal leaves a line in the log and counts', async () => {
    await using server = await start()

    const { correlation_id } = problemOfText(await exchange(server.port, 'nonsense\r\n\r\n'))

    expect(server.lines.at(-1)).toEqual({
      level: 'info',
      message: 'request',
      correlation_id,
      method: '-',
      route: '-',
      status: 400,
      latency_ms: 0,
      code: 'invalid_request',
    })
    const counted = metricsText(await server.metrics.families())
    expect(counted).toContain('quarterdeck_http_requests_total{method="-",route="-",status="400"} 1')
  })

  test('CONNECT is refused', async () => {
    await using server = await start()

    const answer = await exchange(server.port, 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n')

    expect(problemOfText(answer)).toMatchObject({ status: 405, code: 'method_not_allowed' })
    expect(answer).toMatch(/^allow: GET, /im)
  })

  test('CONNECT and then a reset harms nobody', async () => {
    await using server = await start()
    const client = await openRaw(server.port)

    client.send('CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n')
    await client.until(/\}$/)
    client.socket.resetAndDestroy()

    expect(await isAlive(server)).toBe(true)
  })

  test('an Upgrade header is ignored', async () => {
    await using server = await start()
    const headers = ['Upgrade: websocket', 'Connection: Upgrade, close']

    expect(statusOfText(await exchange(server.port, lines(server.port, 'GET /hello HTTP/1.1', ...headers)))).toBe(200)
  })

  test('an unknown expectation is ignored', async () => {
    await using server = await start()
    const headers = ['Expect: the-unexpected', 'Connection: close']

    expect(statusOfText(await exchange(server.port, lines(server.port, 'GET /hello HTTP/1.1', ...headers)))).toBe(200)
  })
})

describe('hostile paths', () => {
  test.each([
    ['//hello', 404],
    ['/../hello', 404],
    ['/items/../hello', 404],
    ['/items/%2e%2e%2fhello', 200],
    ['/items/..%2f..%2fetc%2fpasswd', 200],
    ['/items/%00', 400],
    ['/items/%', 400],
    ['/items/%ff', 400],
    ['/items/%C0%AE', 400],
    ['/hello%00', 404],
    ['/hello#x', 404],
    ['/hello?%00%', 200],
    ['hello', 400],
    ['/__proto__', 404],
    ['/constructor', 404],
    [`/${'a/'.repeat(3_000)}`, 404],
  ])('%s is harmless', async (path, status) => {
    await using server = await start()

    const answer = await exchange(server.port, lines(server.port, `GET ${path} HTTP/1.1`, 'Connection: close'))

    expect(statusOfText(answer)).toBe(status)
    if (status !== 200) expect(problemOfText(answer).status).toBe(status)
  })
})

describe('too much', () => {
  test.each([
    ['one huge header', () => `X-Big: ${'x'.repeat(20_000)}`],
    ['many headers', () => Array.from({ length: 2_000 }, (_, i) => `X-${i}: 12345678`).join('\r\n')],
  ])('%s is refused', async (_name, header) => {
    await using server = await start()

    const answer = await exchange(server.port, lines(server.port, 'GET /hello HTTP/1.1', header()))

    expect(problemOfText(answer)).toMatchObject({ status: 431, code: 'header_too_large' })
  })

  test('a huge request line is refused', async () => {
    await using server = await start()

    const answer = await exchange(server.port, lines(server.port, `GET /${'x'.repeat(20_000)} HTTP/1.1`))

    expect(problemOfText(answer)).toMatchObject({ status: 431 })
  })

  test('a body of endless chunk extensions is refused', async () => {
    await using server = await start()
    const head = lines(
      server.port,
      'POST /echo HTTP/1.1',
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    )

    const answer = await exchange(server.port, `${head}2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`)

    expect(problemOfText(answer)).toMatchObject({ status: 413, code: 'body_too_large' })
  })

  test('a broken chunk in the middle of a body is a problem', async () => {
    await using server = await start()
    const client = await openRaw(server.port)
    client.send(
      lines(server.port, 'POST /echo HTTP/1.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked'),
    )
    client.send('1\r\n{\r\n')
    client.send('zz\r\n}\r\n')

    expect(problemOfText(await client.closed())).toMatchObject({
      status: 400,
      code: 'invalid_request',
      instance: '/echo',
    })
    expect(await isAlive(server)).toBe(true)
  })

  test('a broken body that its handler does not read is answered once', async () => {
    const late = route('POST /late', async (_request, reply) => {
      await turn()
      reply.json(200, 'late')
    })
    await using server = await startServer({ routes: [hello, late] })

    const answer = await exchange(
      server.port,
      `${lines(server.port, 'POST /late HTTP/1.1', 'Transfer-Encoding: chunked')}zz\r\n`,
    )

    expect(problemOfText(answer)).toMatchObject({ status: 400 })
    expect(server.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })

  test('connections beyond the limit are closed, and the others go on', async () => {
    await using server = await start({ limits: { connections: 2 } })
    const first = await openRaw(server.port)
    const second = await openRaw(server.port)
    const third = await openRaw(server.port)

    expect(await third.closed()).toBe('')
    first.send(lines(server.port, 'GET /hello HTTP/1.1'))
    await first.until(/"hello"$/)
    for (const { socket } of [first, second]) socket.destroy()
  })
})

describe('too slow', () => {
  const limits = { headersMs: 200, keepAliveMs: 100 }

  test.each([
    ['nothing at all', ''],
    ['half a request line', 'GET /hel'],
    ['headers without an end', 'GET /hello HTTP/1.1\r\nHost: x\r\nX-A: '],
  ])('%s times out', async (_name, text) => {
    await using server = await start({ limits })

    expect(problemOfText(await exchange(server.port, text))).toMatchObject({ status: 408, code: 'request_timeout' })
  })

  test('headers that arrive byte by byte time out', async () => {
    await using server = await start({ limits })
    const client = await openRaw(server.port)
    client.send('GET /hello HTTP/1.1\r\nHost: x\r\n')
    const trickle = setInterval(() => client.send('X-A: b\r\n'), 20)

    const answer = await client.closed()
    clearInterval(trickle)

    expect(statusOfText(answer)).toBe(408)
  })

  test('a body that never arrives times out, with an answer to its request', async () => {
    await using server = await start({ limits: { requestMs: 1_500 } })
    const head = lines(server.port, 'POST /echo HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 10')

    const answer = await exchange(server.port, head)

    expect(problemOfText(answer)).toMatchObject({ status: 408, code: 'request_timeout', instance: '/echo' })
    await until(() => server.server.stats().connections === 0)
    expect(server.server.stats()).toEqual({ connections: 0, inWork: 0, streams: 0 })
  })

  test('an idle connection is closed', async () => {
    await using server = await start({ limits: { keepAliveMs: 100 } })

    expect(statusOfText(await exchange(server.port, lines(server.port, 'GET /hello HTTP/1.1')))).toBe(200)
  })
})

describe('several requests on one connection', () => {
  test('that arrive at once are answered in order', async () => {
    await using server = await start({ limits: { pipelined: 4 } })
    const client = await openRaw(server.port)

    const ids = Array.from({ length: 100 }, (_, i) => `item-${i}`)
    client.send(ids.map((id) => lines(server.port, `GET /items/${id} HTTP/1.1`)).join(''))
    client.send(lines(server.port, 'GET /hello HTTP/1.1', 'Connection: close'))

    const answers = await client.closed()
    expect([...answers.matchAll(/\{"id":"(item-\d+)"\}/g)].map(([, id]) => id)).toEqual(ids)
    expect(answers).toMatch(/"hello"$/)
  })

  test('are read only up to a limit while the first ones are in work', async () => {
    const work = Promise.withResolvers<void>()
    const slow = route('GET /slow/:id', async (request, reply) => {
      await work.promise
      reply.json(200, request.params)
    })
    await using server = await startServer({ routes: [slow], limits: { pipelined: 4 } })
    const client = await openRaw(server.port)
    const ids = Array.from({ length: 100 }, (_, i) => `item-${i}`)
    for (const [i, id] of ids.entries()) {
      client.send(lines(server.port, `GET /slow/${id} HTTP/1.1`, ...(id === 'item-99' ? ['Connection: close'] : [])))
      if (i < 4) await until(() => server.server.stats().inWork === i + 1)
      for (let turns = 0; turns < 2; turns += 1) await turn()
    }

    expect(server.server.stats().inWork).toBe(4)
    work.resolve()
    expect([...(await client.closed()).matchAll(/\{"id":"(item-\d+)"\}/g)].map(([, id]) => id)).toEqual(ids)
  })

  test('garbage after a request in work cuts the connection and is not answered in its place', async () => {
    const work = Promise.withResolvers<void>()
    const slow = route('GET /slow', async (_request, reply) => {
      await work.promise
      reply.json(200, 'done')
    })
    await using server = await startServer({ routes: [slow] })
    const client = await openRaw(server.port)
    client.send(`${lines(server.port, 'GET /slow HTTP/1.1')}garbage\r\n\r\n`)

    expect(await client.closed()).toBe('')
    work.resolve()
  })

  test('a request inside a body stays part of the body', async () => {
    await using server = await start()
    const body = 'GET /hello HTTP/1.1\r\n\r\n'
    const first = lines(
      server.port,
      'POST /echo HTTP/1.1',
      'Content-Type: text/plain',
      `Content-Length: ${body.length}`,
    )

    const answers = await exchange(
      server.port,
      `${first}${body}${lines(server.port, 'GET /items/1 HTTP/1.1', 'Connection: close')}`,
    )

    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 415', 'HTTP/1.1 200'])
    expect(answers).toMatch(/\{"id":"1"\}$/)
  })
})

describe('clients that leave', () => {
  test('in the middle of their body are logged and forgotten', async () => {
    await using server = await start()
    const client = await openRaw(server.port)
    client.send(lines(server.port, 'POST /echo HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 10'))
    await until(() => server.server.stats().inWork > 0)

    client.socket.destroy()
    await until(() => server.server.stats().connections === 0)

    expect(server.lines.slice(1)).toMatchObject([{ level: 'info', message: 'request', route: '/echo', status: 499 }])
    expect(await isAlive(server)).toBe(true)
  })

  test('by closing their half after the request are dropped', async () => {
    await using server = await start()
    const client = await openRaw(server.port)
    client.send(lines(server.port, 'POST /echo HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 10'))
    client.socket.end()

    await client.closed()

    expect(await isAlive(server)).toBe(true)
  })
})

describe('anything at all', () => {
  const text = fc.oneof({ weight: 9, arbitrary: fc.string() }, { weight: 1, arbitrary: fc.string({ unit: 'binary' }) })
  const segment = fc.oneof(
    fc.constantFrom('hello', 'items', 'echo', '..', '', '%', '%2e', '%00'),
    fc.string().map((part) => encodeURIComponent(part)),
    fc.string({ unit: 'binary', maxLength: 3 }),
  )
  const header = fc.oneof(
    fc.tuple(fc.constantFrom('Origin', 'Authorization', 'Expect', 'Accept', 'X-Correlation-ID', 'Cookie'), text),
    fc.constantFrom<[string, string][]>(
      ['Content-Type', 'application/json'],
      ['Transfer-Encoding', 'chunked'],
      ['Content-Length', '3'],
      ['Host', 'evil.example'],
      ['Expect', '100-continue'],
      ['Origin', 'http://localhost:3000'],
    ),
    fc.tuple(fc.string({ unit: fc.constantFrom('a', '-', 'Z', ' ') }), text),
  )
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST', 'HEAD', 'DELETE', 'OPTIONS', 'PUT', 'TRACE', 'get'),
    path: fc.oneof(
      fc.constantFrom('/hello', '/items/7', '/echo'),
      fc.array(segment, { maxLength: 3 }).map((parts) => `/${parts.join('/')}`),
    ),
    headers: fc.array(header, { maxLength: 3 }),
    body: fc.oneof(fc.constant(''), fc.json(), text),
  })

  test('is answered below 500 or cut, and every refusal is a problem', async () => {
    await using server = await start({ auth: { failuresPerMinute: 10_000 } })
    const statuses = new Set<number>()

    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, headers, body }) => {
        const head = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${server.port}`, 'Connection: close']
        const client = await openRaw(server.port)
        client.send([...head, ...headers.map((pair) => pair.join(': ')), '', body].join('\r\n'))
        client.socket.end()

        const answer = await client.closed()

        const status = answer === '' ? 0 : statusOfText(answer)
        statuses.add(status)
        expect(status).toBeLessThan(500)
        if (status >= 400 && method !== 'HEAD') expect(problemOfText(answer)).toMatchObject({ status })
      }),
      { numRuns: runs(400) },
    )

    expect(await isAlive(server)).toBe(true)
    expect(server.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
    // Enough cases must get past the parser.
    expect([...statuses]).toEqual(expect.arrayContaining([400, 404]))
  })

  test('as a body is read or refused', async () => {
    await using server = await start()
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const body = fc.oneof(
      fc.json().map((json) => Buffer.from(json)),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      fc
        .tuple(fc.json(), fc.nat(), text)
        .map(([json, at, extra]) => Buffer.from(json.slice(0, at % json.length) + extra)),
    )

    await fc.assert(
      fc.asyncProperty(body, async (bytes) => {
        const answer = await fetch(`${server.url}/echo`, { ...init, body: bytes })
        const content: Record<string, unknown> = JSON.parse(await answer.text())
        if (answer.status === 200) expect(content).toEqual({ body: JSON.parse(bytes.toString()) })
        else expect(content).toMatchObject({ status: 400, code: 'malformed_json' })
      }),
      { numRuns: runs(400) },
    )

    expect(server.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })
})
