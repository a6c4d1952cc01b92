// The files for nginx and Caddy in `deploy`, in front of two real servers.

import { readFileSync } from 'node:fs'
import { readdir, readlink, stat } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runInput } from '../crash/support/run-input.ts'
import { openYard, type TestServer } from '../crash/support/start-server.ts'
import { until, within } from '../crash/support/until.ts'
import { findProgram } from './find-program.ts'
import { CERTIFICATE, type RunningProxy, startCaddy, startNginx } from './start-proxy.ts'

const LIMIT_MS = 120_000
const TOKEN = 'the-token-of-the-operator'
const MB = 1_000_000

const proxies = [
  { name: 'nginx', start: startNginx, lostPosts: 0, program: findProgram('nginx', 'apt-get install nginx-light') },
  // Before 2.11.2, Caddy closes the body of a request that no server has read, and cannot send it to another one.
  { name: 'caddy', start: startCaddy, lostPosts: 1, program: findProgram('caddy', 'apt-get install caddy') },
] as const

const answers = [
  { parts: [{ text: 'Hello.' }] },
  // It says three words and then nothing more: whoever sees the words did not wait for the end.
  { when: 'hang', parts: [{ text: 'tok ', repeat: 3 }, { hang: true as const }] },
  { when: 'count', parts: [{ text: 'tok ', repeat: 40, delay_ms: 10 }] },
]

interface Sent extends RequestOptions {
  body?: unknown
}

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** Speaks to the proxy as a client does: with TLS, checking its certificate. */
function createClient({ socketPath }: RunningProxy) {
  const ca = readFileSync(CERTIFICATE)
  function open({ body, ...options }: Sent) {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...options.headers }
    return request({ socketPath, ca, servername: 'localhost', host: 'localhost', agent: false, ...options, headers })
  }
  async function ask(path: string, options: Sent = {}): Promise<Answer> {
    const call = open({ path, method: options.body === undefined ? 'GET' : 'POST', ...options })
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    call.once('error', reject).once('response', (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      )
    })
    call.end(options.body === undefined ? undefined : JSON.stringify(options.body))
    return within(LIMIT_MS, promise, () => `${path} is not answered`)
  }
  /** The frames of a stream, as they arrive. */
  function read(path: string, options: Sent = {}) {
    const frames: string[] = []
    const call = open({ path, method: options.body === undefined ? 'GET' : 'POST', ...options })
    const ended = new Promise<void>((resolve) => {
      call.once('error', () => resolve())
      call.once('response', (response) => {
        let rest = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          const parts = (rest + chunk).split('\n\n')
          rest = parts.pop() ?? ''
          frames.push(...parts.filter((frame) => frame.includes('data: ')))
        })
        response.once('close', resolve)
        response.on('error', () => {})
      })
    })
    call.end(options.body === undefined ? undefined : JSON.stringify(options.body))
    return { frames, ended, close: () => call.destroy() }
  }
  return { open, ask, read }
}

const idOf = (frame: string): string => /^id: (.+)$/m.exec(frame)?.[1] ?? ''
const deltas = (frames: readonly string[]): number => frames.filter((frame) => frame.includes('MESSAGE_CONTENT')).length

async function openHouse(name: string): Promise<TestServer & { dataDir: string }> {
  const yard = await openYard(onTestFinished, { answers, agent: { name } })
  const flags = ['--auth', 'token', '--allowed-hosts', 'localhost', '--disconnect-grace', '0']
  const server = await yard.start({ flags, env: { QUARTERDECK_OPERATOR_TOKEN: TOKEN } })
  return { ...server, dataDir: yard.dataDir }
}

describe.for(proxies)('$name', ({ start, program, lostPosts }) => {
  test.skipIf(program === null)(
    'shares the work, streams both ways, and survives a server',
    { timeout: 600_000 },
    async () => {
      const [first, second] = await Promise.all([openHouse('first'), openHouse('second')])
      const proxy = await start({ program: program ?? '', servers: [first.port, second.port], onEnd: onTestFinished })
      const { ask, open, read } = createClient(proxy)

      const whoAnswers = async (): Promise<unknown> => {
        // Not /health: on a busy machine it may say for a moment that the storage is slow.
        const { status, body } = await ask('/agents')
        return status === 200 ? JSON.parse(body).agents[0].name : `${status} ${body}`
      }
      await until(
        'both servers take part',
        async () => {
          return new Set(await Promise.all(Array.from({ length: 4 }, whoAnswers))).size === 2
        },
        LIMIT_MS,
      )
      for (const path of ['/metrics', '/metrics/', '/metrics?x']) expect((await ask(path)).status).toBe(404)
      // As long as a token of an identity provider may be: the server refuses it, and says what it is.
      const long = await ask('/me', { headers: { Authorization: `Bearer eyJ${'a'.repeat(11_000)}.a.a` } })
      expect([long.status, long.headers['content-type']]).toEqual([401, 'application/problem+json'])
      expect((await ask('/sessions', { headers: { Authorization: 'Bearer wrong' } })).status).toBe(401)

      // From here on there is one server. Nobody notices: no request has reached the other one.
      await second.kill()
      const [names, statuses]: [unknown[], number[]] = [[], []]
      for (let i = 0; i < 6; i += 1) {
        statuses.push((await ask('/chat', { body: { message: `hello ${i}` } })).status)
        names.push(await whoAnswers())
      }
      expect(names).toEqual(Array(6).fill('first'))
      expect(statuses.filter((status) => status !== 200)).toEqual(
        Array(statuses.includes(502) ? lostPosts : 0).fill(502),
      )

      // Events come while the model still works, and the server notices when the reader goes.
      const stream = read('/', { body: runInput('t1', 'r1', 'hang') })
      await until('three words have come', () => deltas(stream.frames) === 3, LIMIT_MS)
      stream.close()
      const statusOf = async (run: string) => JSON.parse((await ask(`/runs/${run}`)).body).status
      await until('the run ends with its reader', async () => (await statusOf('r1')) === 'cancelled', LIMIT_MS)

      // A reader that comes back gets every later event, once.
      const { run_id: run } = JSON.parse((await ask('/sessions/trip/messages', { body: { message: 'count' } })).body)
      const broken = read(`/runs/${run}/events`)
      await until('some events have come', () => broken.frames.length >= 5, LIMIT_MS)
      broken.close()
      await broken.ended
      const back = read(`/runs/${run}/events`, { headers: { 'Last-Event-ID': idOf(broken.frames.at(-1) ?? '') } })
      await within(LIMIT_MS, back.ended, () => 'the stream does not end')
      const whole = read(`/runs/${run}/events`)
      await within(LIMIT_MS, whole.ended, () => 'the stream does not end')
      expect([...broken.frames, ...back.frames]).toEqual(whole.frames)
      expect(deltas(whole.frames)).toBe(40)

      await uploads(open, ask, first)
    },
  )

  test.skipIf(program === null)('passes on the name, and nothing that a client claims about itself', async () => {
    const seen: IncomingHttpHeaders[] = []
    const echo = createServer((incoming, outgoing) => {
      if (incoming.url !== '/ready') seen.push(incoming.headers)
      outgoing.end('ok')
    })
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void echo.close())
    const { port } = echo.address() as AddressInfo
    const proxy = await start({ program: program ?? '', servers: [port, port], onEnd: onTestFinished })
    const { ask } = createClient(proxy)
    const claims = {
      Forwarded: 'for=10.0.0.1',
      'X-Forwarded-User': 'ada',
      'X-Forwarded-Groups': 'admins',
      'X-Forwarded-Email': 'ada@example.com',
      'X-Forwarded-For': '10.0.0.1',
      'X-Forwarded-Proto': 'gopher',
      'X-Forwarded-Host': 'evil.example',
    }
    expect((await ask('/sessions', { headers: { ...claims, 'X-Correlation-ID': 'c1' } })).body).toBe('ok')

    const claimed = Object.entries(claims).filter(([name, value]) => seen[0]?.[name.toLowerCase()]?.includes(value))
    expect(claimed).toEqual([])
    expect(seen[0]).toMatchObject({ host: 'localhost', 'x-correlation-id': 'c1', authorization: `Bearer ${TOKEN}` })
  })
})

/** The server has the first part of a large file on its disk before the client sends the rest. */
async function uploads(
  open: ReturnType<typeof createClient>['open'],
  ask: ReturnType<typeof createClient>['ask'],
  server: TestServer & { dataDir: string },
): Promise<void> {
  const size = 40 * MB
  const head =
    '--b\r\nContent-Disposition: form-data; name="file"; filename="long.txt"\r\nContent-Type: text/plain\r\n\r\n'
  const tail = '\r\n--b--\r\n'
  const headers = {
    'Content-Type': 'multipart/form-data; boundary=b',
    'Content-Length': String(head.length + size + tail.length),
  }
  const call = open({ path: '/files', method: 'POST', headers })
  const answered = new Promise<{ status: number; body: string }>((resolve, reject) => {
    call.once('error', reject).once('response', (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
    })
  })
  const line = `${'streamed '.repeat(111)}\n`
  const content = Buffer.alloc(size, line)
  call.write(head)
  call.write(content.subarray(0, 10 * MB))
  await until('the server writes what has come', async () => (await bytesOpenBelow(server)) > MB, LIMIT_MS)
  call.write(content.subarray(10 * MB))
  call.end(tail)
  const { status, body } = await within(LIMIT_MS, answered, () => 'the upload is not answered')
  expect([status, body]).toEqual([201, expect.stringContaining('long.txt')])
  const id = /"(?:id|file_id)":"([^"]+)"/.exec(body)?.[1]
  expect((await ask(`/files/${id}`)).body === content.toString()).toBe(true)
}

/** Bytes in files of its data directory that the server has open, named or not. */
async function bytesOpenBelow({ pid, dataDir }: TestServer & { dataDir: string }): Promise<number> {
  const folder = `/proc/${pid}/fd`
  let bytes = 0
  for (const name of await readdir(folder)) {
    const path = await readlink(join(folder, name)).catch(() => '')
    if (/\/(?:spool|files)\//.test(path.slice(dataDir.length)) && path.startsWith(dataDir)) {
      bytes += await stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      )
    }
  }
  return bytes
}
