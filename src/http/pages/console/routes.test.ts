import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTlsPair } from '../../server/tls-pair.ts'
import { exchange, startServer, type TestServer, type TestServerOptions } from '../../testing/server-fixture.ts'
import { createConsoleRoutes } from './routes.ts'

const SCRIPT = `console.log(${JSON.stringify('x'.repeat(5_000))})`
const TALK =
  '<!doctype html><meta name="frame-origins" content="" /><script type="module" src="../assets/talk-a1b2.js"></script>'
const HTML =
  '<!doctype html><link rel="icon" href="./icon.svg"><script type="module" crossorigin src="./assets/index-a1b2.js"></script>'

let folder: string
let built: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quarterdeck-console-'))
  built = join(folder, 'console')
  mkdirSync(join(built, 'assets'), { recursive: true })
  writeFileSync(join(folder, 'secret.txt'), 'secret')
  writeFileSync(join(built, 'index.html'), HTML)
  writeFileSync(join(built, 'assets/index-a1b2.js'), SCRIPT)
  writeFileSync(join(built, 'assets/index-a1b2.js.map'), '{}')
  writeFileSync(join(built, 'service-worker.js'), '// worker')
  writeFileSync(join(built, 'manifest.webmanifest'), '{}')
  writeFileSync(join(built, 'icon.svg'), '<svg/>')
  mkdirSync(join(built, 'icons'))
  mkdirSync(join(built, 'talk'))
  writeFileSync(join(built, 'talk/index.html'), TALK)
  writeFileSync(join(built, 'icons/small.svg'), '<svg/>')
})
afterAll(() => rmSync(folder, { recursive: true }))

interface StartOptions extends Partial<TestServerOptions> {
  isOpen?: boolean
  from?: string
  frameOrigins?: string[]
}

const start = ({ isOpen = true, from = built, frameOrigins = [], ...options }: StartOptions = {}) =>
  startServer({ routes: createConsoleRoutes({ isOpen, basePath: '', folder: from, frameOrigins }), ...options })

/** At localhost, where the console answers. */
async function ask({ port }: TestServer, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const lines = Object.entries({ Host: `localhost:${port}`, Connection: 'close', ...headers })
  const raw = await exchange(
    port,
    `${method} ${path} HTTP/1.1\r\n${lines.map(([n, v]) => `${n}: ${v}\r\n`).join('')}\r\n`,
  )
  const end = raw.indexOf('\r\n\r\n')
  const [first = '', ...rest] = raw.slice(0, end).split('\r\n')
  const found = new Headers(rest.map((line) => line.split(/: (.*)/s, 2) as [string, string]))
  return { status: Number(first.split(' ')[1]), headers: found, body: raw.slice(end + 4) }
}

describe('every address of the console', () => {
  test.each([
    ['/console', './console/'],
    ['/console/', './'],
    ['/console/inbox', './'],
    ['/console/inbox/', '../'],
    ['/console/inbox/0199.x', '../'],
    ['/console/sessions/a%2Fb/log?at=3', '../../'],
    ['/console/sessions/../../secret.txt', '../../../'],
    ['/console/..%2Fsecret.txt', './'],
  ])('%s is the page, which finds its files at %s', async (path, way) => {
    await using server = await start()

    const { status, headers, body } = await ask(server, path)

    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ])
    expect(body).toBe(HTML.replaceAll('="./', `="${way}`))
  })

  test('has a policy that lets nothing run or load from elsewhere', async () => {
    await using server = await start()

    const { headers } = await ask(server, '/console/')

    const names = ['content-security-policy', 'cross-origin-opener-policy', 'permissions-policy']
    const common = ['x-content-type-options', 'referrer-policy', 'x-correlation-id']
    expect([...names, ...common].filter((name) => !headers.has(name))).toEqual([])
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; font-src 'self'; manifest-src 'self'; worker-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types quarterdeck",
    )
    expect([headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual(['nosniff', 'no-referrer'])
  })

  test('opens without a token, and is the same for everybody', async () => {
    await using open = await start()
    await using closed = await start({ auth: { tokenRequired: true } })

    const [a, b] = [await ask(open, '/console/'), await ask(closed, '/console/', { Authorization: 'Bearer wrong' })]

    expect([a.status, b.status, a.body === b.body]).toEqual([200, 200, true])
  })
})

describe('the page for users', () => {
  test.each([
    ['/talk', './talk/'],
    ['/talk/', './'],
    ['/talk/chat/0199.x', '../'],
    ['/talk/talk/index.html', '../'],
  ])('is at %s, and finds its files at %s', async (path, way) => {
    await using server = await start()

    const { status, headers, body } = await ask(server, path)

    expect([status, body]).toEqual([200, TALK.replaceAll('="../', `="${way}`)])
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  })

  test('has the files that it shares with the console', async () => {
    await using server = await start()

    expect((await ask(server, '/talk/assets/index-a1b2.js')).body).toBe(SCRIPT)
    expect((await ask(server, '/talk/assets/gone-c3d4.js')).status).toBe(404)
  })

  test('is read from the disk together with the console, once', async () => {
    const from = join(folder, 'copy')
    cpSync(built, from, { recursive: true })
    await using server = await start({ from })
    await ask(server, '/console/')
    rmSync(from, { recursive: true })
    expect((await ask(server, '/talk/')).status).toBe(200)
    expect((await ask(server, '/talk/assets/index-a1b2.js')).body).toBe(SCRIPT)
  })

  test('may be shown in frames of the pages that the settings name, and knows them; the console never', async () => {
    await using server = await start({ frameOrigins: ['https://app.example.com', 'http://localhost:3000'] })

    const talk = await ask(server, '/talk/')
    const operators = await ask(server, '/console/')

    const named = 'https://app.example.com http://localhost:3000'
    expect(talk.headers.get('content-security-policy')).toContain(`; frame-ancestors ${named};`)
    expect(talk.body).toContain(`<meta name="frame-origins" content="${named}" />`)
    expect(operators.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  })

  test('stays at the address where it was opened', async () => {
    await using server = await start()

    expect((await ask(server, '/talk/', { Host: `127.0.0.1:${server.port}` })).status).toBe(200)
  })
})

describe('a file of the console', () => {
  test('with a hash in its name is kept for a year, and compressed as the client wants it', async () => {
    await using server = await start()
    const file = async (accept: string) => {
      const { headers, body } = await ask(server, '/console/assets/index-a1b2.js', { 'Accept-Encoding': accept })
      return { headers, bytes: Buffer.from(body, 'latin1') }
    }

    const plain = await file('br;q=0, identity')
    const zipped = await file('gzip, deflate')
    const brotli = await file('gzip, deflate, br, zstd')

    expect(plain.bytes.toString()).toBe(SCRIPT)
    expect(gunzipSync(zipped.bytes).toString()).toBe(SCRIPT)
    expect(brotliDecompressSync(brotli.bytes).toString()).toBe(SCRIPT)
    expect([plain, zipped, brotli].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip', 'br'])
    for (const { headers, bytes } of [plain, zipped, brotli]) {
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect([headers.get('vary'), Number(headers.get('content-length'))]).toEqual(['Accept-Encoding', bytes.length])
      expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    }
  })

  test('is not sent again to a browser that has it', async () => {
    await using server = await start()
    const first = await ask(server, '/console/service-worker.js')

    const etag = first.headers.get('etag') ?? ''
    const second = await ask(server, '/console/service-worker.js', { 'If-None-Match': `"x", ${etag}` })
    const other = await ask(server, '/console/service-worker.js', { 'If-None-Match': '"x"' })

    expect([first.status, second.status, second.body, other.status]).toEqual([200, 304, '', 200])
    expect(first.headers.get('cache-control')).toBe('no-cache')
    // A worker obeys the policy of its own script, and also looks after /console without a slash.
    expect(first.headers.get('content-security-policy')).toContain("connect-src 'self'")
    expect(first.headers.get('service-worker-allowed')).toBe('../console')
  })

  test('has its own type, and its length for HEAD', async () => {
    await using server = await start()

    expect((await ask(server, '/console/manifest.webmanifest')).headers.get('content-type')).toBe(
      'application/manifest+json',
    )
    expect((await ask(server, '/console/icons/small.svg')).headers.get('content-type')).toBe('image/svg+xml')
    const head = await ask(server, '/console/icon.svg', {}, 'HEAD')
    expect([head.status, head.headers.get('content-length'), head.body]).toEqual([200, '6', ''])
  })

  test.each([
    '/console/assets/gone-c3d4.js',
    '/console/assets/index-a1b2.js.map',
    '/console/assets/../../secret.txt',
    '/console/assets/..%2F..%2Fsecret.txt',
    '/console/favicon.ico',
    '/console/index.html',
  ])('%s does not exist', async (path) => {
    await using server = await start()

    const { status, body } = await ask(server, path)

    expect([status, JSON.parse(body).code]).toEqual([404, 'route_not_found'])
  })
})

describe('at an address of this machine', () => {
  test.each([
    ['127.0.0.1:PORT', '/console/inbox/1?a=b&c=%20', 'http://localhost:PORT/console/inbox/1?a=b&c=%20'],
    ['[::1]:PORT', '/console', 'http://localhost:PORT/console'],
  ])('%s leads to localhost, where passkeys work', async (host, path, location) => {
    await using server = await start()
    const port = String(server.port)

    const { status, headers } = await ask(server, path, { Host: host.replace('PORT', port) })

    expect([status, headers.get('location')]).toEqual([307, location.replace('PORT', port)])
  })

  test('keeps https', async () => {
    const pathOf = (name: string) => join(import.meta.dirname, '../../testing', name)
    const tls = readTlsPair({ cert: pathOf('localhost-cert.pem'), key: pathOf('localhost-key.pem') })
    await using server = await start({ tls })

    const location = await new Promise((resolve, reject) => {
      get(`${server.url}/console/inbox`, { ca: tls.cert, agent: false }, (answer) => {
        answer.resume()
        resolve(answer.headers.location)
      }).on('error', reject)
    })

    expect(location).toBe(`https://localhost:${server.port}/console/inbox`)
  })

  test('stays where it is if a proxy or another port is in between', async () => {
    await using server = await start({ guard: { allowedHosts: ['127.0.0.1:9'] } })

    const proxied = await ask(server, '/console', {
      Host: `127.0.0.1:${server.port}`,
      'X-Forwarded-For': '203.0.113.9',
    })
    const tunnel = await ask(server, '/console', { Host: '127.0.0.1:9' })

    expect([proxied.status, tunnel.status]).toEqual([200, 200])
  })
})

test('a console that is off, or not built, says so', async () => {
  const later = join(folder, 'later')
  await using off = await start({ isOpen: false })
  await using unbuilt = await start({ from: later })

  const closed = await ask(off, '/console/inbox')
  expect([closed.status, closed.headers.get('content-type')]).toEqual([404, 'text/plain; charset=utf-8'])
  expect(closed.body).toContain('--no-console')
  expect((await ask(off, '/talk/')).body).toBe(closed.body)
  const missing = await ask(unbuilt, '/console/')
  expect([missing.status, missing.body.includes('npm run build -w console\n')]).toEqual([404, true])

  // It is found as soon as it is built.
  mkdirSync(later)
  writeFileSync(join(later, 'index.html'), HTML)
  expect((await ask(unbuilt, '/console/')).status).toBe(200)
})

test('a browser that asks for many files at once gets each of them', async () => {
  await using server = await start()

  const asked = Array.from({ length: 20 }, () =>
    ask(server, '/console/assets/index-a1b2.js', { 'Accept-Encoding': 'br' }),
  )
  const answers = await Promise.all(asked)

  expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
})
