// After SIGTERM the server takes no new work, completes open answers, marks or suspends the rest, and ends in time.
//
//   ROUNDS=40 SEED=7 vitest run test/crash/stop.slow.test.ts      the long variant

import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createRandom } from '../sim/random.ts'
import { runs } from '../tier.ts'
import { databaseFaults } from './support/database.ts'
import { fromEnvironment, ms, print, quantile } from './support/figures.ts'
import { openStreams } from './support/open-streams.ts'
import { createPersistentClient } from './support/persistent-client.ts'
import { runInput } from './support/run-input.ts'
import { record } from './support/sse-recorder.ts'
import { openYard, type TestServer, type Yard } from './support/start-server.ts'
import { until } from './support/until.ts'

const ROUNDS = fromEnvironment('ROUNDS', runs(4))
const SEED = fromEnvironment('SEED', 20_261_115)
/** Time for the short answer, and for four requests that are refused meanwhile, on a machine that does much else. */
const DRAIN_MS = 3_000
const LANES = 2

const answers = [
  { when: 'short', parts: [{ text: 'tok ', repeat: 10, delay_ms: 20 }] },
  { when: 'longer', parts: [{ text: 'tok ', repeat: 100_000, delay_ms: 35 }] },
  { when: 'endless', parts: [{ text: 'tok ', repeat: 100_000, delay_ms: 25 }] },
]
/** For a server that goes on with a run of the one before: that run ends soon. */
const answersLater = [{ when: 'longer', times: 1, parts: [{ text: 'tok ', repeat: 30 }] }, ...answers]

/** How a run ended: its last event without the parts that differ from run to run. */
function endOf({ frames }: { frames: readonly { data: string }[] }): unknown {
  const { type, code, outcome } = JSON.parse(frames.at(-1)?.data ?? '{}')
  return { type, code, outcome }
}

const FINISHED = { type: 'RUN_FINISHED', code: undefined, outcome: { type: 'success' } }
const INTERRUPTED = { type: 'RUN_ERROR', code: 'interrupted', outcome: undefined }

/** The status and code of a refusal, and whether there is a Retry-After. */
async function refusal(url: string, body?: unknown) {
  const request = body === undefined ? {} : { method: 'POST' as const, body }
  const { status, body: text, headers } = await record({ url, ...request }).done
  return {
    status,
    type: headers['content-type'],
    code: JSON.parse(text || '{}').code,
    retry: Number(headers['retry-after']) > 0,
  }
}

async function ready({ url }: TestServer): Promise<unknown> {
  const { status, body } = await record({ url: `${url}/ready` }).done
  return { status, ready: JSON.parse(body || '{}').ready }
}

describe('SIGTERM', () => {
  test('completes what can be completed, and loses nothing', { timeout: 600_000 }, async () => {
    const random = createRandom(SEED)
    const flags = ['--drain', `${DRAIN_MS}ms`, '--log-level', 'info']
    const stopMs: number[] = []
    const noticedMs: number[] = []

    async function stopAgainAndAgain(rounds: number): Promise<void> {
      const yard = await openYard(onTestFinished, { answers })
      let server = await yard.start({ flags })
      for (let round = 0; round < rounds; round += 1) server = await stopOnce(yard, server, round)
    }

    /** Returns the server that was started next. */
    async function stopOnce(yard: Yard, server: TestServer, round: number): Promise<TestServer> {
      const client = (kind: 'stream' | 'background', name: string, thread = name) =>
        createPersistentClient({ kind, threadId: `${thread}-${round}`, name: `${name}-${round}` })
      const short = client('stream', 'short')
      const endless = client('stream', 'endless')
      const background = client('background', 'longer')
      const queued = client('background', 'short-queued', 'endless')
      const silent = connect(server.port, '127.0.0.1')
      silent.on('error', () => {}).write('POST / HTTP/1.1\r\nHost: 127.')
      const going = [endless, background].map((one) => one.go(server.url))
      await until('the long runs have begun', () => endless.acknowledged && background.acknowledged)
      going.push(queued.go(server.url))
      // A run in the background is taken before its reader comes, and a reader that comes after the signal is refused.
      await until('all have readers', async () => (await openStreams(server)) === going.length)
      going.push(short.go(server.url))
      await until('the short one has begun', () => short.acknowledged)
      await new Promise((resolve) => setTimeout(resolve, random.between(0, 100)))

      const signalled = performance.now()
      server.signal('SIGTERM')
      await until('the server has noticed', () => server.log().includes('Stopping'))
      noticedMs.push(performance.now() - signalled)
      expect(await ready(server)).toEqual({ status: 503, ready: false })
      const refused = { status: 503, type: 'application/problem+json', code: 'shutting_down', retry: true }
      const lateId = `late-${round}`
      expect(await refusal(server.url, runInput(lateId, lateId, 'short'))).toEqual(refused)
      expect(await refusal(`${server.url}/sessions/${lateId}/messages`, { message: 'short' })).toEqual(refused)
      expect(await refusal(`${server.url}/runs/${lateId}`)).toEqual(refused)

      const { code, signal } = await server.exited
      stopMs.push(performance.now() - signalled)
      await Promise.all(going)
      silent.destroy()

      expect({ code, signal }).toEqual({ code: 0, signal: null })
      expect([short, endless].map(endOf)).toEqual([FINISHED, INTERRUPTED])
      // Readers of a run that goes on later were told so, and where.
      expect([background, queued].map(({ ended, notices }) => [ended, notices.length])).toEqual([
        [false, 1],
        [false, 1],
      ])
      expect(background.notices[0]?.data).toContain(`Last-Event-ID: ${background.frames.at(-1)?.id}`)
      expect(await databaseFaults(yard)).toEqual([])

      await yard.script(answersLater)
      const next = await yard.start({ flags })
      await Promise.all([background, queued].map((one) => one.go(next.url)))
      expect([background, queued].map(endOf)).toEqual([FINISHED, FINISHED])
      const faults = await Promise.all([short, endless, background, queued].map((one) => one.faults(next.url)))
      expect(faults.flat()).toEqual([])
      expect((await record({ url: `${next.url}/runs/${lateId}` }).done).status).toBe(404)
      return next
    }

    // In parallel, because a stop is mostly waiting.
    await Promise.all(Array.from({ length: LANES }, () => stopAgainAndAgain(Math.ceil(ROUNDS / LANES))))

    print(
      `P15: ${stopMs.length}/${stopMs.length} stops with exit 0, drain ${ms(DRAIN_MS)}, noticed p99 ${ms(quantile(noticedMs, 0.99))}, gone p50 ${ms(quantile(stopMs, 0.5))}, max ${ms(Math.max(...stopMs))}; ${stopMs.length * 4} runs, 0 lost (seed ${SEED})`,
    )
    expect(Math.max(...stopMs)).toBeLessThan(DRAIN_MS + 30_000)
  })

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('then %s ends it at once, with %i', async (second, expected) => {
    const yard = await openYard(onTestFinished, { answers })
    const server = await yard.start({ flags: ['--drain', '60s', '--log-level', 'info'] })
    const endless = createPersistentClient({ kind: 'stream', threadId: 'endless', name: 'endless' })
    const busy = endless.go(server.url)
    await until('the run has begun', () => endless.acknowledged)

    server.signal('SIGTERM')
    await until('the server has noticed', () => server.log().includes('Stopping'))
    // Within a second it would count as the same signal: one to a process group may arrive twice.
    server.signal('SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const signalled = performance.now()
    server.signal(second)
    const { code } = await server.exited
    const afterMs = performance.now() - signalled
    await busy

    print(`P15: a second signal (${second}): exit ${code} after ${ms(afterMs)}`)
    expect(code).toBe(expected)
    expect(afterMs).toBeLessThan(50_000)
    // It was not drained, so it is recovered as after a crash.
    const again = await yard.start({ flags: ['--log-level', 'info'] })
    await record({ url: `${again.url}/runs/endless/cancel`, method: 'POST', body: {} }).done
    await endless.go(again.url)
    expect(endOf(endless)).toEqual({ type: 'RUN_FINISHED', code: undefined, outcome: { type: 'cancelled' } })
  })
})
