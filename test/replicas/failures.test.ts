// Postgres fails in every way that operators know. Requests wait or get 503 with Retry-After, runs go on, nothing that was acknowledged is
// lost, nothing is done twice, and the pages for operators tell the truth.
//
//   RESTARTS=20 CLIENTS=20 SEED=7 npm run test:replicas -- failures.test.ts      the long variant

import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { breakMachine } from '../crash/support/broken-machine.ts'
import { fromEnvironment, ms, print } from '../crash/support/figures.ts'
import { record } from '../crash/support/sse-recorder.ts'
import { until } from '../crash/support/until.ts'
import { askOnce } from '../postgres/test-database.ts'
import { endConnections } from './support/harm.ts'
import { openProxies } from './support/open-proxies.ts'
import { noStandby, startPair } from './support/standby.ts'
import type { Team } from './support/team.ts'
import { withLoad } from './support/with-load.ts'

const RESTARTS = fromEnvironment('RESTARTS', 4)

/** For a machine that has other things to do. The pages look at the store every few seconds. */
const TELLS_MS = 60_000

const run = promisify(execFile)

interface Pages {
  health: number | null
  ready: number | null
  live: number | null
  up: string | undefined
}

/** What a replica says about itself. */
async function pagesOf(team: Team): Promise<Pages> {
  const url = team.replicas[0]?.url
  const [health, ready, live, metrics] = await Promise.all(
    ['health', 'ready', 'live', 'metrics'].map((path) => record({ url: `${url}/${path}` }).done),
  )
  return {
    health: health?.status ?? null,
    ready: ready?.status ?? null,
    live: live?.status ?? null,
    up: /^quarterdeck_store_up (\d)$/m.exec(metrics?.body ?? '')?.[1],
  }
}

const WORKS: Pages = { health: 200, ready: 200, live: 200, up: '1' }
const AWAY: Pages = { health: 503, ready: 503, live: 200, up: '0' }

async function pagesSay(team: Team, expected: Pages): Promise<void> {
  let last: Pages | null = null
  const isSo = async () => {
    last = await pagesOf(team)
    return JSON.stringify(last) === JSON.stringify(expected)
  }
  await until('the pages tell the truth', isSo, TELLS_MS).catch(() => expect(last).toEqual(expected))
}

/** A connection that the test holds. */
async function hold(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** How far Postgres's clock is ahead of this machine's. */
async function clockOf({ postgres }: Team): Promise<number> {
  const [row] = await askOnce(postgres.url, 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now')
  return Number(row?.now) - Date.now()
}

/** Opens one session after the other, and compares when they say that they were made with when that was. */
function watchStamps({ url }: Team) {
  let isOver = false
  let count = 0
  let worst = 0
  async function look(): Promise<void> {
    for (let i = 0; !isOver; i += 1) {
      const before = Date.now()
      const body = { message: 'hello' }
      const sent = await record({ url: `${url}/sessions/stamp-${i}/messages`, method: 'POST', body }).done
      const after = Date.now()
      await pause(200)
      if (sent.status !== 202) continue
      const shown = await record({ url: `${url}/sessions/stamp-${i}` }).done
      if (shown.status !== 200) continue
      const made = Date.parse(JSON.parse(shown.body).created_at)
      count += 1
      worst = Math.max(worst, before - made, made - after)
    }
  }
  const looking = look()
  return {
    async stop() {
      isOver = true
      await looking
      return { count, worst }
    },
  }
}

describe('Postgres under load', () => {
  test('is started again every few seconds', async () => {
    const { random, team, load } = await withLoad()
    for (let i = 0; i < RESTARTS; i += 1) {
      await team.postgres.stop(random.pick(['fast', 'immediate']))
      await team.postgres.start()
      await pause(random.between(5_000, 20_000))
    }
    await pagesSay(team, WORKS)
    print(`Postgres restarted ${RESTARTS} times: ${await load.finish()}`)
  })

  test('is away for longer than a request waits: 503 with Retry-After, and the pages say so', async () => {
    const { team, load } = await withLoad({ env: { QUARTERDECK_POSTGRES_WAIT: '2s' } })
    await team.postgres.stop('immediate')
    await pagesSay(team, AWAY)
    await until('requests are refused', () => load.talks.some(({ refusals }) => refusals > 0), TELLS_MS)
    await team.postgres.start()
    await pagesSay(team, WORKS)
    print(`Postgres away: ${await load.finish()}`)
  })

  test('has no connection left', async () => {
    const { team, load } = await withLoad({ postgres: { settings: { max_connections: 30 } } })
    const hogs = [await hold(team.postgres.url)]
    const isMine = `pid = pg_backend_pid() OR application_name = 'hog'`
    for (const tries = { left: 200 }; hogs.length < 30 && tries.left > 0; tries.left -= 1) {
      const hog = await hold(`${team.postgres.url}?application_name=hog`).catch(() => null)
      if (hog !== null) hogs.push(hog)
      // The replicas lose theirs, and find that all are taken.
      else {
        await hogs[0]?.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND NOT (${isMine})`,
        )
      }
    }
    await pagesSay(team, AWAY)
    await Promise.all(hogs.map((hog) => hog.end()))
    await pagesSay(team, WORKS)
    print(`No connection left (${hogs.length} taken by others): ${await load.finish()}`)
  })

  test('is slow: somebody holds a lock on the heads of all sessions for 20 s', async () => {
    const { team, load } = await withLoad()
    const holder = await hold(team.postgres.url)
    await holder.query('BEGIN; LOCK TABLE heads IN EXCLUSIVE MODE')
    await pause(20_000)
    const during = load.talks.filter(({ ended }) => !ended).length
    await holder.query('ROLLBACK')
    await holder.end()
    await pagesSay(team, WORKS)
    print(`A lock on all heads for 20 s, ${during} waited: ${await load.finish()}`)
  })

  test('ends transactions that are idle, and statements that take long', async () => {
    const { team, load } = await withLoad()
    const kill = `SELECT count(pg_terminate_backend(pid)) AS n FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'`
    const cancel = `SELECT count(pg_cancel_backend(pid)) AS n FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state = 'active'`
    const killer = await hold(team.postgres.url)
    const counts = { killed: 0, cancelled: 0 }
    for (const end = performance.now() + 15_000; performance.now() < end; ) {
      counts.killed += Number((await killer.query(kill)).rows[0]?.n)
      if (counts.killed % 5 === 0) counts.cancelled += Number((await killer.query(cancel)).rows[0]?.n)
      await pause(50)
    }
    await killer.end()
    await pagesSay(team, WORKS)
    expect(counts.killed + counts.cancelled).toBeGreaterThan(0)
    print(`${counts.killed} idle transactions ended, ${counts.cancelled} statements cancelled: ${await load.finish()}`)
  })

  test('is cut off from one server in silence, for longer than its lease', async () => {
    const { proxies, ...way } = await openProxies(2)
    const { team, load } = await withLoad(way)
    for (const [i, proxy] of proxies.entries()) {
      proxy.freeze()
      await pause(12_000)
      // What was under way arrives after all, or the connections are gone.
      if (i === 1) proxy.breakAll()
      proxy.thaw()
      await pause(3_000)
    }
    await pagesSay(team, WORKS)
    print(`Silent partition of each server for 12 s: ${await load.finish()}`)
  })

  test('is cut off from all servers in silence', async () => {
    const { proxies, ...way } = await openProxies(2)
    const { team, load } = await withLoad(way)
    for (const proxy of proxies) proxy.freeze()
    await pause(12_000)
    for (const proxy of proxies) proxy.thaw()
    await pagesSay(team, WORKS)
    print(`Silent partition of all servers for 12 s: ${await load.finish()}`)
  })

  test('commits, and its answer is lost', async () => {
    const { proxies, ...way } = await openProxies(2)
    const { team, load } = await withLoad(way)
    for (const end = performance.now() + 10_000; performance.now() < end; ) {
      for (const proxy of proxies) proxy.loseAnswerTo('COMMIT')
      await pause(400)
    }
    await pagesSay(team, WORKS)
    const lost = proxies.reduce((n, proxy) => n + proxy.lost, 0)
    expect(lost).toBeGreaterThan(10)
    print(`${lost} answers to COMMIT lost: ${await load.finish()}`)
  })

  test('is stopped for longer than a lease', async () => {
    const { team, load } = await withLoad()
    onTestFinished(() => team.postgres.resume())
    team.postgres.pause()
    await pause(12_000)
    team.postgres.resume()
    await pagesSay(team, WORKS)
    print(`Postgres stopped (SIGSTOP) for 12 s: ${await load.finish()}`)
  })

  test('is read-only for longer than a lease', async () => {
    const { team, load } = await withLoad()
    const setReadOnly = async (value: 'on' | 'off') => {
      await askOnce(team.postgres.url, `ALTER SYSTEM SET default_transaction_read_only = ${value}`)
      await askOnce(team.postgres.url, 'SELECT pg_reload_conf()')
    }
    await setReadOnly('on')
    // It answers, but nothing can be stored.
    await pagesSay(team, { ...AWAY, up: '1' })
    await pause(8_000)
    await setReadOnly('off')
    await pagesSay(team, WORKS)
    print(`Postgres read-only: ${await load.finish()}`)
  })

  test.for([-60, 60])('has a clock that is %i s off for 10 s: nobody goes by it', async (seconds, { skip }) => {
    const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-clock-'))
    chmodSync(folder, 0o755)
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const machine = await breakMachine({ directory: folder })
    if (machine === null) return skip('Skipped: a library for LD_PRELOAD cannot be compiled here.')
    const { team, load } = await withLoad({ postgres: { env: machine.env } })
    const stamps = watchStamps(team)
    await pause(3_000)
    await machine.moveClocks({ wall: seconds * 1_000 })
    expect(Math.round((await clockOf(team)) / 1_000)).toBe(seconds)
    // Whoever connects anew asks for the time.
    await endConnections(team)
    await pause(10_000)
    await machine.moveClocks({ wall: 0 })
    await pause(8_000)
    const { count, worst } = await stamps.stop()
    const figures = await load.finish()
    print(`Postgres's clock ${seconds} s off for 10 s, ${count} stamps at most ${ms(worst)} off: ${figures}`)
    expect(worst).toBeLessThan(2_000)
  })

  test('has a full disk', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('Skipped: a small disk needs root.')
    const dir = mkdtempSync(join(tmpdir(), 'quarterdeck-full-'))
    await run('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=0755', 'tmpfs', dir])
    onTestFinished(async () => {
      await run('umount', ['-l', dir])
      rmSync(dir, { recursive: true, force: true })
    })
    const { team, load } = await withLoad({
      postgres: {
        dir: join(dir, 'postgres'),
        settings: { max_wal_size: '32MB', min_wal_size: '32MB', wal_recycle: 'off' },
      },
    })
    const filler = join(dir, 'filler')
    const { bavail, bsize } = statfsSync(dir)
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 64 * 1024))
    await until('requests are refused', () => load.talks.some(({ refusals }) => refusals > 0), 120_000)
    rmSync(filler)
    // Without room for its log Postgres ends. Somebody starts it again.
    if (!(await isUp(team.postgres.url))) {
      await team.postgres.stop('immediate')
      await team.postgres.start()
    }
    await pagesSay(team, WORKS)
    print(`A full disk: ${await load.finish()}`)
  })

  test('fails over to a standby', async ({ skip }) => {
    if (noStandby !== null) skip(noStandby)
    const { first, standby } = await startPair(onTestFinished)
    const both = `postgres://postgres@127.0.0.1:${first.port},127.0.0.1:${standby.port}/postgres`
    const { team, load } = await withLoad({ server: first, store: () => both })
    await pause(3_000)
    await first.kill()
    await pause(2_000)
    await askOnce(standby.url, 'SELECT pg_promote()')
    await pagesSay(team, WORKS)
    await pause(3_000)
    print(`Failover to a standby: ${await load.finish()}`)
  })
})

const isUp = (url: string): Promise<boolean> =>
  askOnce(url, 'SELECT 1').then(
    () => true,
    () => false,
  )
