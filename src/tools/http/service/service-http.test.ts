import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { createConnections } from '../../../outgoing/connections.ts'
import { turns } from '../../../outgoing/testing/ask.ts'
import { openProxy } from '../../../outgoing/testing/open-proxy.ts'
import { never } from '../../testing/tool-call.ts'
import { type Answer, openService, type Service } from '../testing/open-service.ts'
import { openServiceHttp } from '../testing/open-service-http.ts'
import {
  createServiceHttp,
  type Lookup,
  MAX_BODY_BYTES,
  type ServiceHttp,
  type ServiceRequest,
} from './service-http.ts'

const pathOf = (name: string) => join(import.meta.dirname, '../../../http/testing', name)
const CERTIFICATE = pathOf('localhost-cert.pem')
const KEY = pathOf('localhost-key.pem')

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function open(answer: Answer, host?: string, port?: number): Promise<Service> {
  const service = await openService(answer, host, port)
  cleanups.push(() => service.close())
  return service
}

const names =
  (table: Record<string, string[]>): Lookup =>
  async (hostname) => {
    const found = table[hostname]
    if (found === undefined) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
    return found
  }

const request = (url: string, more: Partial<ServiceRequest> = {}): ServiceRequest => ({
  method: 'GET',
  url: new URL(url),
  headers: {},
  body: null,
  allowPrivate: false,
  ...more,
})

const reasonOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (error: { details?: { reason?: unknown } }) => error.details?.reason ?? error,
  )

const get = (http: ServiceHttp, url: string, more: Partial<ServiceRequest> = {}) => http.send(request(url, more), never)

async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setImmediate(resolve))
}

/** A server that counts as public, and a canary on the same port of an address that does not. */
async function publicAndCanary(answer: (canary: Service) => Answer): Promise<{ outside: Service; canary: Service }> {
  const canary = await open((response) => response.end('secret'))
  const outside = await open((response, incoming) => answer(canary)(response, incoming), OUTSIDE, canary.port)
  return { outside, canary }
}
// The only address besides 127.0.0.1 that a test can reach.
const OUTSIDE = '127.0.0.2'
const isPublic = (ip: string) => ip === OUTSIDE

describe('service HTTP', () => {
  test('sends the request and returns status, type and body', async () => {
    const service = await open((response) => {
      response.writeHead(201, { 'content-type': 'Text/Plain; charset=UTF-8' })
      response.end('done')
    })
    const http = openServiceHttp({ lookup: names({}) })
    const answer = await get(http, `${service.url}/a%2Fb?c=d`, {
      method: 'POST',
      headers: { 'x-a': '1', 'content-type': 'text/plain' },
      body: 'Grüße',
      allowPrivate: true,
    })
    expect(answer).toEqual({
      status: 201,
      contentType: 'text/plain; charset=utf-8',
      contentLength: null,
      retryAfter: null,
      body: Buffer.from('done'),
      isCut: false,
    })
    expect(service.requests).toEqual([
      {
        method: 'POST',
        url: '/a%2Fb?c=d',
        headers: {
          'x-a': '1',
          'content-type': 'text/plain',
          'content-length': '7',
          host: `127.0.0.1:${service.port}`,
          connection: 'close',
        },
        body: 'Grüße',
      },
    ])
  })

  test('sends bytes as they are, and says when the service wants to be asked again', async () => {
    const bytes = Uint8Array.of(0, 255, 128)
    const service = await open((response) => response.writeHead(429, { 'retry-after': '7' }).end())
    const http = openServiceHttp({ lookup: names({}) })
    const answer = await get(http, service.url, { method: 'POST', body: bytes, allowPrivate: true })

    expect(answer).toMatchObject({ status: 429, retryAfter: '7' })
    expect(service.requests[0]).toMatchObject({
      headers: { 'content-length': '3' },
      body: Buffer.from(bytes).toString(),
    })
  })

  describe('refuses what is not public', () => {
    const spellings = [
      '127.0.0.1',
      '127.1',
      '0177.0.0.1',
      '0x7f.0.0.1',
      '2130706433',
      '017700000001',
      '127.0.0.1.',
      '１２７.0.0.1',
      '0.0.0.0',
      '[::1]',
      '[::]',
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[64:ff9b::127.0.0.1]',
      '[2002:7f00:1::]',
      'localhost',
      'LOCALHOST.',
      'internal.example',
      'mixed.example',
      'mapped.example',
      'odd.example',
    ]
    const table = {
      localhost: ['127.0.0.1', '::1'],
      'localhost.': ['127.0.0.1'],
      'internal.example': ['127.0.0.1'],
      'mixed.example': ['93.184.216.34', '127.0.0.1'],
      'mapped.example': ['::ffff:127.0.0.1'],
    }

    test.each(spellings)('called as %s', async (host) => {
      const canary = await open((response) => response.end('secret'))
      const lookup: Lookup = async (name) => (name === 'odd.example' ? ['0177.0.0.1'] : names(table)(name))
      const reason = await reasonOf(get(openServiceHttp({ lookup }), `http://${host}:${canary.port}/`))
      expect(reason).toBe(host === 'odd.example' ? 'unreachable' : 'private_address')
      expect(canary.connections).toBe(0)
    })

    test.each(spellings)('reached by a redirect to %s', async (host) => {
      const { outside, canary } = await publicAndCanary(({ port }) => (response) => {
        response.writeHead(302, { location: `http://${host.startsWith('[') ? host : encodeURI(host)}:${port}/` }).end()
      })
      const lookup: Lookup = async (name) =>
        name === 'odd.example' ? ['0177.0.0.1'] : names({ ...table, 'public.example': [OUTSIDE] })(name)
      const http = openServiceHttp({ lookup, isPublic })
      const reason = await reasonOf(get(http, `http://public.example:${outside.port}/`))
      expect(reason).toBe(host === 'odd.example' ? 'unreachable' : 'private_address')
      expect({ asked: outside.requests.length, canary: canary.connections }).toEqual({ asked: 1, canary: 0 })
    })
  })

  test('connects to exactly the address that was checked, even if a second lookup differs', async () => {
    const { outside, canary } = await publicAndCanary(() => (response) => response.end('outside'))
    let asked = 0
    const lookup: Lookup = async () => {
      asked += 1
      return [asked === 1 ? OUTSIDE : '127.0.0.1']
    }
    const http = openServiceHttp({ lookup, isPublic })
    const answer = await get(http, `http://rebind.example:${outside.port}/`)
    expect(answer.body.toString()).toBe('outside')
    expect(outside.requests[0]?.headers.host).toBe(`rebind.example:${outside.port}`)
    // A second call looks the name up again and checks it again.
    expect(await reasonOf(get(http, `http://rebind.example:${outside.port}/`))).toBe('private_address')
    expect({ asked, canary: canary.connections }).toEqual({ asked: 2, canary: 0 })
  })

  test('checks a name again when a redirect leads back to it', async () => {
    const { outside, canary } = await publicAndCanary(() => (response) => {
      response.writeHead(307, { location: '/again' }).end()
    })
    let asked = 0
    const lookup: Lookup = async () => {
      asked += 1
      return [asked === 1 ? OUTSIDE : '127.0.0.1']
    }
    const http = openServiceHttp({ lookup, isPublic })
    expect(await reasonOf(get(http, `http://rebind.example:${outside.port}/`))).toBe('private_address')
    expect({ asked, canary: canary.connections }).toEqual({ asked: 2, canary: 0 })
  })

  describe('with a proxy', () => {
    async function setUp(table: Record<string, string[]>) {
      const service = await open((response) => response.end('by proxy'))
      const proxy = await openProxy(service.port)
      const connections = createConnections()
      cleanups.push(() => proxy.close(), connections.close)
      const pool = connections.pool({
        proxyVariables: { HTTP_PROXY: `127.0.0.1:${proxy.port}`, NO_PROXY: 'own.example' },
      })
      const network = { lookup: names(table), isPublic }
      const http = createServiceHttp({ connections, pool, network, maxBytes: MAX_BODY_BYTES })
      return { service, proxy, http, connections }
    }

    test('requests for a name that passed the check go through it', async () => {
      const { http, proxy } = await setUp({ 'public.example': [OUTSIDE] })
      expect((await get(http, 'http://public.example/a?b=c')).body.toString()).toBe('by proxy')
      expect(proxy.asked).toEqual([{ line: 'GET http://public.example/a?b=c', credentials: null }])
    })

    test('requests for names that are not public, or have no address, do not go through it', async () => {
      const { http, proxy } = await setUp({ 'private.example': ['10.0.0.1'], 'both.example': [OUTSIDE, '10.0.0.1'] })
      for (const name of ['private.example', 'both.example', '169.254.169.254', '127.0.0.1']) {
        expect(await reasonOf(get(http, `http://${name}/`))).toBe('private_address')
      }
      expect(await reasonOf(get(http, 'http://nowhere.example/'))).toBe('unreachable')
      expect(proxy.connections).toBe(0)
    })

    test('a request is never sent twice, even if a reused connection breaks', async () => {
      const { http, proxy } = await setUp({ 'public.example': [OUTSIDE] })
      await get(http, 'http://public.example/')
      // A connection is free again one turn of the loop after its answer.
      await turns(3)
      proxy.breaks = true
      const post = { method: 'POST', body: 'x' }
      expect(await reasonOf(get(http, 'http://public.example/', post))).toBe('unreachable')
      expect(proxy.asked.map(({ line }) => line)).toEqual(['GET', 'POST'].map((one) => `${one} http://public.example/`))
      expect(proxy.connections).toBe(1)
    })

    test('an exempt name goes to the address that was checked', async () => {
      const { http, proxy } = await setUp({ 'own.example': [OUTSIDE] })
      const outside = await open((response) => response.end('direct'), OUTSIDE)
      expect((await get(http, `http://own.example:${outside.port}/`)).body.toString()).toBe('direct')
      expect(proxy.connections).toBe(0)
    })
  })

  test('tries the next address of a name when the first does not answer', async () => {
    const { outside } = await publicAndCanary(() => (response) => response.end('here'))
    const http = openServiceHttp({ lookup: names({ 'two.example': ['127.0.0.3', OUTSIDE] }), isPublic: () => true })
    const answer = await get(http, `http://two.example:${outside.port}/`)
    expect(answer.body.toString()).toBe('here')
  })

  test('calls private addresses if they are allowed', async () => {
    const service = await open((response) => response.end('inside'))
    const http = openServiceHttp({ lookup: names({ 'inside.example': ['127.0.0.1'] }) })
    const answer = await get(http, `http://inside.example:${service.port}/`, { allowPrivate: true })
    expect(answer.body.toString()).toBe('inside')
  })

  test('uses the name for TLS, and does not talk to a server with a self-signed certificate', async () => {
    const seen: string[] = []
    const tls = { cert: readFileSync(CERTIFICATE), key: readFileSync(KEY) }
    const server = createTlsServer({
      ...tls,
      SNICallback(name, done) {
        seen.push(name)
        done(null)
      },
    })
    server.on('tlsClientError', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanups.push(() => new Promise((resolve) => server.close(resolve)))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const http = openServiceHttp({ lookup: names({ 'api.example': ['127.0.0.1'] }) })
    expect(await reasonOf(get(http, `https://api.example:${port}/`, { allowPrivate: true }))).toBe('insecure')
    expect(seen).toEqual(['api.example'])
  })

  describe('redirects', () => {
    const secrets = { authorization: 'Bearer k', cookie: 'a=b', 'x-api-key': 'k', accept: 'text/plain' }

    test('are followed at most five times', async () => {
      const service = await open((response, { url = '' }) => {
        const count = Number(url.slice(1))
        if (count === 0) response.end('there')
        else response.writeHead(302, { location: `/${count - 1}` }).end()
      })
      const http = openServiceHttp({ lookup: names({}) })
      expect((await get(http, `${service.url}/5`, { allowPrivate: true })).body.toString()).toBe('there')
      expect(await reasonOf(get(http, `${service.url}/6`, { allowPrivate: true }))).toBe('too_many_redirects')
      expect(service.requests).toHaveLength(6 + 6)
    })

    test('keep all headers within an origin, and only harmless ones to another', async () => {
      const other = await open((response) => response.end())
      const service = await open((response, { url }) => {
        if (url === '/here') response.writeHead(302, { location: '/there' }).end()
        else response.writeHead(302, { location: `http://user:word@localhost:${other.port}/x` }).end()
      })
      const http = openServiceHttp({ lookup: names({ localhost: ['127.0.0.1'] }) })
      await get(http, `${service.url}/here`, { headers: secrets, allowPrivate: true })
      expect(service.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer k', 'Bearer k'])
      expect(other.requests.map(({ headers }) => headers)).toEqual([
        { accept: 'text/plain', host: `localhost:${other.port}`, connection: 'close' },
      ])
    })

    test('another port of the same host is another origin', async () => {
      const other = await open((response) => response.end())
      const service = await open((response) => response.writeHead(302, { location: other.url }).end())
      await get(openServiceHttp({ lookup: names({}) }), service.url, {
        headers: secrets,
        allowPrivate: true,
      })
      expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
    })

    test.each([
      { status: 301, method: 'POST', becomes: 'GET', body: '' },
      { status: 302, method: 'POST', becomes: 'GET', body: '' },
      { status: 303, method: 'PUT', becomes: 'GET', body: '' },
      { status: 303, method: 'HEAD', becomes: 'HEAD', body: '' },
      { status: 307, method: 'POST', becomes: 'POST', body: 'text' },
      { status: 308, method: 'PUT', becomes: 'PUT', body: 'text' },
    ])('after $status a $method becomes a $becomes', async ({ status, method, becomes, body }) => {
      const service = await open((response, { url }) => {
        if (url === '/') response.writeHead(status, { location: '/next' }).end()
        else response.end()
      })
      const sent =
        method === 'HEAD' ? { body: null, headers: {} } : { body: 'text', headers: { 'content-type': 'text/plain' } }
      await get(openServiceHttp({ lookup: names({}) }), `${service.url}/`, {
        method,
        ...sent,
        allowPrivate: true,
      })
      const [, second] = service.requests
      expect({ method: second?.method, body: second?.body, type: second?.headers['content-type'] }).toEqual({
        method: becomes,
        body,
        type: body === '' ? undefined : 'text/plain',
      })
    })

    test('do not carry a body to another host', async () => {
      const service = await open((response, { url }) => {
        if (url === '/') response.writeHead(307, { location: `http://localhost:${service.port}/taken` }).end()
        else response.end()
      })
      const http = openServiceHttp({ lookup: names({ localhost: ['127.0.0.1'] }) })
      const sending = get(http, `${service.url}/`, { method: 'POST', body: 'text', allowPrivate: true })
      expect(await reasonOf(sending)).toBe('bad_redirect')
      expect(service.requests).toHaveLength(1)
    })

    test.each([
      'file:///etc/passwd',
      'ftp://example.com/',
      'javascript:alert(1)',
      'gopher://127.0.0.1/',
      'http://',
      'http://[::1',
    ])('to %s are refused', async (location) => {
      const service = await open((response) => response.writeHead(302, { location }).end())
      const http = openServiceHttp({ lookup: names({}) })
      expect(await reasonOf(get(http, service.url, { allowPrivate: true }))).toBe('bad_redirect')
    })

    test('are ordinary answers for a request that does not follow them', async () => {
      const service = await open((response) => response.writeHead(307, { location: '/there' }).end())
      const http = openServiceHttp({ lookup: names({}) })

      expect(await get(http, service.url, { allowPrivate: true, followRedirects: false })).toMatchObject({
        status: 307,
      })
      expect(service.requests.length).toBe(1)
    })

    test('without a location are ordinary answers', async () => {
      const service = await open((response) => response.writeHead(302).end('lost'))
      const answer = await get(openServiceHttp({ lookup: names({}) }), service.url, { allowPrivate: true })
      expect({ status: answer.status, body: answer.body.toString() }).toEqual({ status: 302, body: 'lost' })
    })
  })

  describe('answers', () => {
    const text = 'Grüße '.repeat(1000)
    const encodings: [string, Buffer][] = [
      ['gzip', gzipSync(text)],
      ['x-gzip', gzipSync(text)],
      ['br', brotliCompressSync(text)],
      ['deflate', deflateSync(text)],
      ['deflate', deflateRawSync(text)],
      ['identity', Buffer.from(text)],
      ['GZIP', gzipSync(text)],
    ]
    test.each(encodings)('in %s are unpacked', async (encoding, bytes) => {
      const service = await open((response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes))
      const answer = await get(openServiceHttp({ lookup: names({}) }), service.url, { allowPrivate: true })
      expect({ text: answer.body.toString(), isCut: answer.isCut }).toEqual({ text, isCut: false })
    })

    test.each([
      ['zstd', Buffer.from('x')],
      ['gzip, br', gzipSync(text)],
      ['gzip', Buffer.from('not gzip')],
      ['br', gzipSync(text)],
      ['gzip', gzipSync(text).subarray(0, 40)],
    ])('in %s that cannot be decompressed are a failure', async (encoding, bytes) => {
      const service = await open((response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes))
      const http = openServiceHttp({ lookup: names({}) })
      expect(await reasonOf(get(http, service.url, { allowPrivate: true }))).toBe('undecodable')
    })

    test.each(['gzip', 'br', 'identity'])('of 16 MB in %s are read up to the limit', async (encoding) => {
      const huge = Buffer.alloc(16 * 1_048_576, 'a')
      const bytes =
        encoding === 'gzip'
          ? gzipSync(huge)
          : encoding === 'br'
            ? brotliCompressSync(huge, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
            : huge
      const service = await open((response) => {
        response.writeHead(200, { 'content-encoding': encoding })
        response.end(bytes)
      })
      const answer = await get(openServiceHttp({ lookup: names({}) }), service.url, { allowPrivate: true })
      expect({ size: answer.body.length, isCut: answer.isCut }).toEqual({ size: MAX_BODY_BYTES, isCut: true })
    })

    test('that never end are cut, and their connection closed', async () => {
      let isClosed = false
      const service = await open((response) => {
        response.on('close', () => {
          isClosed = true
        })
        const write = () => {
          while (!isClosed && response.write(Buffer.alloc(65_536, 'x')));
        }
        response.on('drain', write)
        write()
      })
      const answer = await get(openServiceHttp({ lookup: names({}) }), service.url, { allowPrivate: true })
      expect({ size: answer.body.length, isCut: answer.isCut }).toEqual({ size: MAX_BODY_BYTES, isCut: true })
      await until(() => isClosed)
    })

    test('whose compressed bytes are cut return what could be decompressed', async () => {
      const noise = Buffer.alloc(2 * MAX_BODY_BYTES, 'what is not packed is as long as before; ')
      const packed = gzipSync(noise, { level: 0 })
      const service = await open((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed))
      const answer = await get(openServiceHttp({ lookup: names({}) }), service.url, { allowPrivate: true })
      expect(answer.isCut).toBe(true)
      expect(answer.body.equals(noise.subarray(0, answer.body.length))).toBe(true)
      expect(answer.body.length).toBeGreaterThan(MAX_BODY_BYTES * 0.9)
    })

    test('that break off are a failure', async () => {
      const service = await open((response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('half', () => response.destroy())
      })
      const http = openServiceHttp({ lookup: names({}) })
      expect(await reasonOf(get(http, service.url, { allowPrivate: true }))).toBe('broke_off')
    })
  })

  describe('gives up', () => {
    test('on an unknown name, and on a port where nobody listens', async () => {
      const service = await openService(() => {})
      await service.close()
      const http = openServiceHttp({ lookup: names({ 'empty.example': [] }) })
      expect(await reasonOf(get(http, 'http://nobody.example/'))).toBe('unreachable')
      expect(await reasonOf(get(http, 'http://empty.example/'))).toBe('unreachable')
      expect(await reasonOf(get(http, service.url, { allowPrivate: true }))).toBe('unreachable')
    })

    test('on a service that closes the connection without an answer', async () => {
      const service = await open((response) => response.destroy())
      const http = openServiceHttp({ lookup: names({}) })
      expect(await reasonOf(get(http, service.url, { allowPrivate: true }))).toBe('unreachable')
    })

    test('when the signal aborts: before the call, during the lookup, before the answer and during it', async () => {
      const controller = new AbortController()
      const quiet = await open(() => {})
      const half = await open((response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('half')
      })
      let isAsked = false
      const lookup: Lookup = () => {
        isAsked = true
        return new Promise(() => {})
      }
      const http = openServiceHttp({ lookup })
      const send = (url: string) => reasonOf(http.send(request(url, { allowPrivate: true }), controller.signal))
      const all = [send('http://slow.example/'), send(quiet.url), send(half.url)]
      await until(() => isAsked && quiet.requests.length === 1 && half.requests.length === 1)
      controller.abort()
      all.push(send(quiet.url), send('http://slow.example/'))
      expect(await Promise.all(all)).toEqual(Array(5).fill('took_too_long'))
      expect(quiet.connections).toBe(1)
    })

    test('during the connect, and leaves no connection open', async () => {
      const sockets: Socket[] = []
      // It accepts connections but never answers the TLS handshake.
      const hole = createServer((socket) => void sockets.push(socket.on('error', () => {}).resume()))
      await new Promise<void>((resolve) => hole.listen(0, '127.0.0.1', resolve))
      cleanups.push(() => hole.close())
      const url = `https://127.0.0.1:${(hole.address() as AddressInfo).port}/`
      for (const stop of ['signal', 'close'] as const) {
        const [connections, controller] = [createConnections(), new AbortController()]
        const http = openServiceHttp({ lookup: names({}) }, connections)
        const sent = reasonOf(http.send(request(url, { allowPrivate: true }), controller.signal))
        await until(() => sockets.length === 1)
        if (stop === 'signal') controller.abort()
        else connections.close()
        expect(await sent).toBe(stop === 'signal' ? 'took_too_long' : 'unreachable')
        await until(() => sockets.pop()?.destroyed !== false)
      }
    })
  })
})
