// Many readers of a long history at once: each costs far less memory than the session is large.
//
//   MESSAGES=1000 vitest run test/crash/histories.slow.test.ts      the long variant (`npm run test:long`): a session of 95 MB

import { request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { fromEnvironment, megabytes, print } from './support/figures.ts'
import { hydration } from './support/run-input.ts'
import { record } from './support/sse-recorder.ts'
import { openYard, type TestServer } from './support/start-server.ts'

const MESSAGES = fromEnvironment('MESSAGES', 150)
const CHARS = 95_000
const AT_ONCE = 20
/** As many messages as fit into one body. The first event of their run has 9.5 MB, and each reader of the session gets it. */
const IN_A_REQUEST = 100
/** A reader of the session's events leaves before the last of those. */
const ENOUGH_BYTES = (Math.min(MESSAGES / IN_A_REQUEST, 5) - 1) * IN_A_REQUEST * CHARS
// If each reader held the whole history, 20 readers would take 570 MB, and with 1,000 messages 1.9 GB: more than the heap of this server.
const HEAP_MB = 256
const GROWTH_LIMIT = 450_000_000

async function fill({ url }: TestServer): Promise<void> {
  for (let i = 0; i < MESSAGES; i += IN_A_REQUEST) {
    const messages = Array.from({ length: IN_A_REQUEST }, (_, n) => ({
      id: `m${i + n}`,
      role: 'user',
      content: `${i + n} ${'x'.repeat(CHARS)}`,
    }))
    const { status } = await record({
      url,
      method: 'POST',
      body: { ...hydration('long'), runId: `run-${i}`, messages },
    }).done
    expect(status).toBe(200)
  }
}

interface Taken {
  status: number | undefined
  bytes: number
  isLinked: boolean
}

/** Reads up to so many bytes and keeps none of them. */
function take(url: string, body?: unknown, enough = Number.POSITIVE_INFINITY): Promise<Taken> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const headers = { 'Content-Type': 'application/json' }
    const call = request(url, { method, agent: false, headers: body === undefined ? {} : headers }, (answer) => {
      let bytes = 0
      const done = () =>
        resolve({ status: answer.statusCode, bytes, isLinked: answer.headers.link?.includes('before=') ?? false })
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes < enough) return
        done()
        call.destroy()
      })
      answer.on('end', done).on('error', () => {})
    })
    call.on('error', reject)
    call.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** How much the memory grew while 20 readers did this at once. */
async function together(server: TestServer, read: () => Promise<Taken>): Promise<{ growth: number; taken: Taken[] }> {
  const before = await server.rss()
  let peak = before
  const sampler = setInterval(async () => {
    peak = Math.max(peak, await server.rss().catch(() => 0))
  }, 50)
  onTestFinished(() => clearInterval(sampler))
  const taken = await Promise.all(Array.from({ length: AT_ONCE }, read))
  clearInterval(sampler)
  return { growth: Math.max(peak, await server.rss()) - before, taken }
}

test(`a session of ${MESSAGES} × 95,000 characters is read by 20 at once, at every door, in little memory`, {
  timeout: 300_000,
}, async () => {
  const yard = await openYard(onTestFinished)
  const server = await yard.start({
    flags: ['--log-level', 'warn'],
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
  })
  const { url } = server
  await fill(server)

  const session = await together(server, () => take(`${url}/sessions/long`))
  const thread = await together(server, () => take(`${url}/threads/long`))
  const snapshot = await together(server, () => take(url, hydration('long')))
  const connect = await together(server, () => take(`${url}/copilotkit/agent/default/connect`, hydration('long')))
  const events = await together(server, () => take(`${url}/sessions/long/events`, undefined, ENOUGH_BYTES))

  const all = { session, thread, snapshot, connect, events }
  const figures = Object.entries(all).map(([name, { growth }]) => `${name} ${megabytes(growth)}`)
  print(
    `P12: a session of ${megabytes(MESSAGES * CHARS)} read by ${AT_ONCE} at once, heap of ${HEAP_MB} MB: memory +${figures.join(', +')}`,
  )
  const page = { status: 200, isLinked: true, bytes: expect.closeTo(4_280_000, -6) }
  expect([...session.taken, ...thread.taken]).toEqual(Array(2 * AT_ONCE).fill(page))
  const shown = { status: 200, isLinked: false, bytes: expect.closeTo(4_180_000, -6) }
  expect([...snapshot.taken, ...connect.taken]).toEqual(Array(2 * AT_ONCE).fill(shown))
  for (const { status, bytes } of events.taken) {
    expect(status).toBe(200)
    expect(bytes).toBeGreaterThanOrEqual(ENOUGH_BYTES)
  }
  expect(Math.max(...Object.values(all).map(({ growth }) => growth))).toBeLessThan(GROWTH_LIMIT)
})
