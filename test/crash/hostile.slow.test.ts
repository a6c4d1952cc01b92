// Everything that a client can get wrong, by accident or on purpose, against one running server. It is refused with a 4xx that says
// why, nothing of it is stored, and nobody else notices.
//
//   FUZZ=10000 SEED=7 vitest run test/crash/hostile.slow.test.ts      the long variant (twice FUZZ requests). SEED replays a run

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRandom } from '../sim/random.ts'
import { withDatabaseCopy } from './support/database.ts'
import { fromEnvironment, megabytes, ms, print, quantile } from './support/figures.ts'
import { type HealthProbe, probeHealth } from './support/health-probe.ts'
import { mutateBytes, mutateJson } from './support/mutate-input.ts'
import { OPERATOR_TOKEN, operatorEnv } from './support/operator.ts'
import { openRaw, type RawSocket, statusOf } from './support/raw-socket.ts'
import { runInput } from './support/run-input.ts'
import { isTerminal, type Recording, record } from './support/sse-recorder.ts'
import { openYard, type TestServer, type Yard } from './support/start-server.ts'
import { until } from './support/until.ts'

const FUZZ = fromEnvironment('FUZZ', 400)
const SEED = fromEnvironment('SEED', 20_261_115)
const MIB = 1024 * 1024
const BODY_LIMIT = 10_000_000
const UPLOADS = 6
/** With about 25 MB for the MCP SDK, which the first request to its door loads. */
const GROWTH_LIMIT = 180_000_000

let yard: Yard
let server: TestServer
let probe: HealthProbe
let quietRss: number
let peakRss = 0
let slow: RawSocket[]
let slowSince: number
const cleanups: (() => Promise<void>)[] = []

beforeAll(async () => {
  yard = await openYard((clean) => void cleanups.push(clean))
  server = await yard.start({ env: operatorEnv })
  await record({ url: server.url, method: 'POST', body: runInput('warm', 'warm', 'Hello') }).done
  quietRss = await server.rss()
  probe = probeHealth(server.url)
  // These stay open during all tests, and are checked at the end.
  slowSince = performance.now()
  const host = `Host: 127.0.0.1:${server.port}`
  const starts = [
    '',
    'POST / HT',
    `POST / HTTP/1.1\r\n${host}\r\nX-Slow: `,
    `POST / HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"thre`,
  ]
  slow = await Promise.all(Array.from({ length: 400 }, (_, i) => openRaw(server.port, starts[i % starts.length])))
})

afterAll(async () => {
  for (const clean of cleanups) await clean()
})

/** Everything in the store except what the server writes while it is idle. */
const stored = () =>
  withDatabaseCopy(yard, (db) =>
    ['sessions', 'runs', 'messages', 'entries', 'tail', 'idempotency'].map((table) =>
      db.prepare(`SELECT * FROM ${table}`).all(),
    ),
  )

const aliases = () =>
  withDatabaseCopy(yard, (db) =>
    db
      .prepare('SELECT alias FROM sessions')
      .all()
      .map((row) => String(row.alias)),
  )

/** The status and code of a proper problem. Otherwise what is wrong with it. */
function problemIn({ status, headers, body, complete }: Recording): string {
  if (!complete || status === null) return `no complete answer (${status})`
  if (headers['content-type'] !== 'application/problem+json') return `${status} as ${headers['content-type']}`
  const problem: Record<string, unknown> = JSON.parse(body)
  const { type, title, detail, code, correlation_id: id } = problem
  const sound =
    problem.status === status &&
    [type, title, detail, code, id].every((field) => typeof field === 'string' && field !== '') &&
    String(type).endsWith(String(code)) &&
    headers['x-correlation-id'] === id &&
    !/\bat .*\.ts:|node:internal|SQLITE/.test(body)
  return sound ? `${status} ${code}` : `an unsound problem: ${body}`
}

interface Bad {
  method?: 'GET' | 'POST'
  path?: string
  headers?: Record<string, string>
  body?: unknown
}

const valid = runInput('thread', 'run', 'Hello')
const json = { 'Content-Type': 'application/json' }
const raw = (text: string | Uint8Array): Bad => ({ body: Buffer.from(text), headers: json })
const typed = (type: string): Bad => ({ body: Buffer.from(JSON.stringify(valid)), headers: { 'Content-Type': type } })
const input = (change: Record<string, unknown>): Bad => ({ body: { ...valid, ...change } })
const said = (change: Record<string, unknown>): Bad =>
  input({ messages: [{ id: 'm', role: 'user', content: 'Hi', ...change }] })
const posted = (body: unknown, id = 'thread'): Bad => ({ path: `/sessions/${id}/messages`, body })
const withHeader = (name: string, value: string): Bad => ({ body: valid, headers: { [name]: value } })

const refused: readonly (readonly [name: string, answer: string, request: Bad])[] = [
  ['no JSON', '400 malformed_json', raw('hello')],
  ['half a JSON', '400 malformed_json', raw(JSON.stringify(valid).slice(0, -5))],
  ['two JSONs', '400 malformed_json', raw('{}{}')],
  ['nothing', '400 malformed_json', raw('')],
  [
    'bad UTF-8',
    '400 malformed_json',
    raw(Buffer.concat([Buffer.from('{"threadId":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])),
  ],
  ['an overlong UTF-8 slash', '400 malformed_json', raw(Buffer.from([0x22, 0xc0, 0xaf, 0x22]))],
  ['10,000 levels', '400 malformed_json', raw('['.repeat(10_000) + ']'.repeat(10_000))],
  ['a million levels that never close', '400 malformed_json', raw('{"a":'.repeat(1_000_000))],
  ['__proto__', '400 malformed_json', raw(JSON.stringify(valid).replace('{', '{"__proto__":{"isAdmin":true},'))],
  ['an escaped __proto__', '400 malformed_json', raw('{"\\u005f_proto__":{}}')],
  ['constructor.prototype', '400 malformed_json', raw('{"constructor":{"prototype":{}}}')],
  ['a lone surrogate', '400 malformed_json', raw('{"threadId":"\\ud800"}')],
  ['a number', '400 invalid_request', raw('42')],
  ['null', '400 invalid_request', raw('null')],
  ['a list', '400 invalid_request', raw('[]')],
  ['an empty object', '400 invalid_request', raw('{}')],
  ['a thread that is a number', '400 invalid_request', input({ threadId: 1 })],
  ['a run that is an object', '400 invalid_request', input({ runId: {} })],
  ['messages that are text', '400 invalid_request', input({ messages: 'Hi' })],
  ['a message that is null', '400 invalid_request', input({ messages: [null] })],
  ['a role that is a number', '400 invalid_request', said({ role: 7 })],
  ['a message without id', '400 invalid_request', said({ id: null })],
  ['content that is a number', '400 invalid_request', said({ content: 7 })],
  ['a text part without text', '400 invalid_request', said({ content: [{ type: 'text' }] })],
  ['a message of 100,001 characters', '400 invalid_request', said({ content: 'x'.repeat(100_001) })],
  ['tools that are text', '400 invalid_request', input({ tools: 'hammer' })],
  ['context that is a number', '400 invalid_request', input({ context: 1 })],
  ['another major version', '400 invalid_request', input({ protocolVersion: '2.0' })],
  ['NUL in an id', '400 malformed_id', input({ threadId: 'a\u0000b' })],
  ['a line break in an id', '400 malformed_id', input({ runId: 'a\nid: forged' })],
  ['an escape sequence in an id', '400 malformed_id', input({ threadId: '\u001b[31mred' })],
  ['a mark that reverses text in an id', '400 malformed_id', input({ threadId: 'a\u202eb' })],
  ['a blank id', '400 malformed_id', input({ threadId: '  ' })],
  ['an id of 129 characters', '400 malformed_id', input({ threadId: 'x'.repeat(129) })],
  ['a control character in a message id', '400 malformed_id', said({ id: 'm\u0007' })],
  ['no media type', '415 unsupported_media_type', { body: Buffer.from(JSON.stringify(valid)) }],
  ['plain text', '415 unsupported_media_type', typed('text/plain')],
  ['a form', '415 unsupported_media_type', typed('application/x-www-form-urlencoded')],
  ['a multipart form', '415 unsupported_media_type', typed('multipart/form-data; boundary=x')],
  ['a tab behind the media type', '415 unsupported_media_type', typed('application/json\t; x')],
  ['another character set', '415 unsupported_media_type', typed('application/json; charset=utf-16')],
  ['a compressed body', '415 unsupported_media_type', withHeader('Content-Encoding', 'gzip')],
  ['a key with a space in front', '400 invalid_request', withHeader('Idempotency-Key', '\u00e4')],
  ['a key of 300 characters', '400 invalid_request', withHeader('Idempotency-Key', 'k'.repeat(300))],
  ['an unknown X-On-Busy', '400 invalid_request', withHeader('X-On-Busy', 'explode')],
  ['a Last-Event-ID that is none', '400 malformed_id', withHeader('Last-Event-ID', '%00')],
  ['a message with an unknown key', '400 invalid_request', posted({ message: 'Hi', colour: 'red' })],
  ['a blank message', '400 invalid_request', posted({ message: ' \n ' })],
  ['a message of 10,001 characters', '400 invalid_request', posted({ message: 'x'.repeat(10_001) })],
  ['a message that is a list', '400 invalid_request', posted({ message: ['Hi'] })],
  ['an agent that is not there', '404 agent_not_found', posted({ message: 'Hi', agent: 'nobody' })],
  ['NUL in a path', '400 invalid_request', posted({ message: 'Hi' }, '%00')],
  ['a path that is not UTF-8', '400 invalid_request', posted({ message: 'Hi' }, '%ff')],
  ['a bidirectional mark in a path', '400 malformed_id', posted({ message: 'Hi' }, 'a%E2%80%AEb')],
  ['a name nobody uses', '400 malformed_id', { method: 'GET', path: '/sessions/nobody/events' }],
  [
    'a session that is not there',
    '404 session_not_found',
    { method: 'GET', path: `/sessions/${'0'.repeat(26)}/events` },
  ],
  ['a run that is not there', '404 run_not_found', { method: 'GET', path: '/runs/nobody' }],
  ['an agent nobody serves', '404 agent_not_found', { path: '/agents/nobody', body: valid }],
  ['a route that is not there', '404 route_not_found', { method: 'GET', path: '/admin' }],
  ['a path that climbs', '404 route_not_found', { method: 'GET', path: '/runs/../../etc/passwd' }],
  ['another method', '405 method_not_allowed', { method: 'GET', path: '/chat' }],
]

describe('bad input', () => {
  test('is a 4xx problem that names the fault, and leaves nothing behind', async () => {
    const before = await stored()
    const answers = await Promise.all(
      refused.map(async ([name, , { method = 'POST', path = '/', headers = {}, body }]) => {
        const answer = await record({ url: server.url + path, method, headers, body }).done
        return [name, problemIn(answer)] as const
      }),
    )

    expect(answers).toEqual(refused.map(([name, answer]) => [name, answer]))
    expect(await stored()).toEqual(before)
    print(`P24: ${refused.length} kinds of bad input, all 4xx problem+json, nothing stored`)
  })

  test('that AG-UI says to tolerate is left out, and the rest is answered', async () => {
    const content = [
      { type: 'hologram', beam: 7 },
      { type: 'text', text: 'Hi' },
      { type: 'image', source: null },
    ]
    const body = {
      ...runInput('tolerant', 'tolerant', ''),
      colour: 'red',
      messages: [{ id: 'm', role: 'user', content }],
    }

    const { status, frames } = await record({ url: server.url, method: 'POST', body }).done

    expect([status, frames.length > 2, frames.map(isTerminal).lastIndexOf(true)]).toEqual([
      200,
      true,
      frames.length - 1,
    ])
    expect(frames.at(-1)?.data).toMatch(/^\{"type":"RUN_FINISHED"/)
  })

  test.each([800, 1_600, 17_000])(
    'in the schema of a tool, %d patterns that count far, is not followed',
    async (count) => {
      const patterns = Object.fromEntries(Array.from({ length: count }, (_, i) => [`(?:a{70}){70}${i}`, true]))
      const tools = [{ name: 'hostile', description: 'A tool.', parameters: { patternProperties: patterns } }]
      const body = { ...runInput(`patterns-${count}`, `patterns-${count}`, 'Hello'), tools }
      const { status, frames } = await record({ url: server.url, method: 'POST', body }).done
      peakRss = Math.max(peakRss, await server.rss())

      expect(status).toBe(200)
      expect(frames.at(-1)?.data).toMatch(/^\{"type":"RUN_FINISHED"/)
      expect(server.log()).toContain('is not enforced')
    },
  )

  test('by the thousand causes no 5xx, no crash and no broken stream', { timeout: 1_200_000 }, async () => {
    const random = createRandom(SEED)
    const statuses = new Map<number | null, number>()
    const findings: string[] = []
    const accepted = new Set(await aliases())
    let next = 0

    async function attack(): Promise<void> {
      while (next < 2 * FUZZ) {
        const n = next
        next += 1
        const own = random.fork(String(n))
        const base = runInput(`fuzz-${n}`, `fuzz-${n}`, 'Hello')
        const bytes =
          n % 2 === 0
            ? Buffer.from(JSON.stringify(mutateJson(base, own)) ?? '')
            : mutateBytes(Buffer.from(JSON.stringify(base)), own)
        const answer = await record({ url: server.url, method: 'POST', headers: json, body: bytes }).done
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        if (answer.status === 200) {
          accepted.add(String(JSON.parse(bytes.toString()).threadId))
          const ends = answer.frames.filter(isTerminal).length
          const [first] = answer.frames
          if (!answer.complete || ends !== 1 || !first?.data.startsWith('{"type":"RUN_STARTED"')) {
            findings.push(`seed ${SEED}, request ${n}: a broken stream for ${bytes.toString()}`)
          }
          continue
        }
        const problem = problemIn(answer)
        // `resume` comes with the tools; until then it is refused as a whole.
        if (!/^4\d\d \w+$/.test(problem) && problem !== '501 not_available_yet') {
          findings.push(`seed ${SEED}, request ${n}: ${problem} for ${bytes.toString()}`)
        }
      }
    }
    await Promise.all(Array.from({ length: 16 }, attack))
    peakRss = Math.max(peakRss, await server.rss())

    expect(findings).toEqual([])
    expect((await aliases()).filter((alias) => !accepted.has(alias))).toEqual([])
    const counts = [...statuses]
      .sort(([a], [b]) => Number(a) - Number(b))
      .map(([status, count]) => `${count} × ${status}`)
    print(
      `P24: ${2 * FUZZ} fuzzed requests (seed ${SEED}): ${counts.join(', ')}; 0 × 5xx, nothing stored by a refused one`,
    )
  })
})

describe('too much', () => {
  test('is refused while it arrives, not afterwards', async () => {
    const head = `POST / HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/json\r\n`
    const block = Buffer.alloc(64 * 1024, 0x20)

    async function upload(): Promise<{ status: number; past: number }> {
      const { socket, text } = await openRaw(server.port, `${head}Transfer-Encoding: chunked\r\n\r\n`)
      let sent = 0
      // Sent slowly, so that this measures the server and not the kernel's buffers.
      while (text() === '' && sent < BODY_LIMIT + 8 * MIB && !socket.destroyed) {
        socket.write(`${block.length.toString(16)}\r\n`)
        await new Promise<void>((resolve) => socket.write(block, () => resolve()))
        socket.write('\r\n')
        sent += block.length
        if (sent > BODY_LIMIT) await until('an answer', () => text() !== '', 2_000).catch(() => {})
      }
      socket.destroy()
      return { status: statusOf(text()), past: sent - BODY_LIMIT }
    }
    const uploads = await Promise.all(Array.from({ length: UPLOADS }, upload))
    peakRss = Math.max(peakRss, await server.rss())
    const declared = await openRaw(server.port, `${head}Content-Length: 4000000000\r\n\r\n`)
    await until('the refusal', () => declared.text().includes('body_too_large'))

    const past = Math.max(...uploads.map((one) => one.past))
    print(
      `P25: 413 at most ${(past / MIB).toFixed(2)} MiB past the limit in ${UPLOADS} parallel uploads; at once where the length is declared`,
    )
    expect([uploads.map(({ status }) => status), statusOf(declared.text())]).toEqual([Array(UPLOADS).fill(413), 413])
    expect(past).toBeLessThanOrEqual(MIB)
    declared.socket.destroy()
  })

  test('time for an unfinished request is not given', async () => {
    const answers = await Promise.all(slow.map((one) => one.closed(120_000)))
    const took = performance.now() - slowSince

    const statuses = new Map<number, number>()
    for (const text of answers) statuses.set(statusOf(text), (statuses.get(statusOf(text)) ?? 0) + 1)
    print(
      `P25: ${answers.length} connections that never finished their request were closed within ${ms(took)} (${[...statuses].map(([status, count]) => `${count} × ${status === 0 ? 'no answer' : status}`).join(', ')})`,
    )
    expect(answers.filter((text) => text !== '' && statusOf(text) !== 408)).toEqual([])
  })
})

// Runs last: what did all the other tests do to the server?
describe('the server under attack', () => {
  test('stayed well', async () => {
    const times = await probe.stop()
    const growth = Math.max(peakRss, await server.rss()) - quietRss
    const p99 = quantile(times, 0.99)
    const max = Math.max(...times)
    print(
      `P14: /health asked ${times.length} times during all this: p50 ${ms(quantile(times, 0.5))}, p99 ${ms(p99)}, max ${ms(max)}; memory grew by ${megabytes(growth)}`,
    )
    expect(max).toBeLessThanOrEqual(HEALTH_LIMIT_MS)
    expect(growth).toBeLessThan(GROWTH_LIMIT)
    const answer = await record({ url: server.url, method: 'POST', body: runInput('last', 'last', 'Hello') }).done
    expect(answer.frames.at(-1)?.data).toMatch(/^\{"type":"RUN_FINISHED"/)
  })

  test('wrote no secret and no forged line into its log', async () => {
    const sent = ['qd_this-is-a-token-of-somebody', 'sk-live-0123456789abcdef']
    for (const secret of sent) {
      await record({ url: `${server.url}/runs/x`, headers: { Authorization: `Bearer ${secret}` } }).done
      await record({ url: `${server.url}/runs/${secret}?key=${secret}` }).done
    }
    await record({ url: `${server.url}/runs/a%20b`, headers: { 'X-Correlation-ID': 'x","level":"fatal' } }).done
    await until('the lines are written', () => server.log().split('"status":404').length > 2)

    const lines = server.log().trimEnd().split('\n')
    const forged = lines.filter((line) => {
      try {
        const { time, level, message } = JSON.parse(line)
        return typeof time !== 'string' || !['info', 'warn', 'error'].includes(level) || typeof message !== 'string'
      } catch {
        return true
      }
    })
    const leaked = [OPERATOR_TOKEN, ...sent].filter((secret) => server.log().includes(secret))
    print(`P30: ${lines.length} log lines, 0 forged, 0 secrets`)
    expect([forged, leaked]).toEqual([[], []])
  })
})

/** The promise is a p99 of 50 ms and at most 1 s. Here other tests share the machine. */
const HEALTH_LIMIT_MS = 60_000
