// Measures what runs, text, wakes and reads cost on a real Postgres, and fits the constants of the scale model to it:
// `node bench/scale/measure.ts` prints the table and writes constants.json. Takes about four minutes. Linux only.
// `--quick` only shows that it works.

import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../../test/postgres/server.ts'
import { median } from '../percentiles.ts'
import type { ScaleConstants } from './constants.ts'
import { fitPlane, slope } from './fit.ts'
import { type Cost, openProbe, type PostgresProbe } from './postgres-probe.ts'
import { openReplica, type Pace, type Replica } from './replica.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)
const seconds = (n: number) => new Promise((resolve) => setTimeout(resolve, n * 1_000))
const CHARS = 118
/** `--quick` only shows that everything works, and writes nothing. */
const isQuick = process.argv.includes('--quick')
const often = (n: number): number => (isQuick ? Math.ceil(n / 8) : n)
/** The lease is renewed in this time, and with it the connection that commits reports its rows. */
const SETTLE_MS = 3_500

/** Text groups of many shapes, committed one after the other as the log does. */
async function measureText(probe: PostgresProbe, url: string) {
  const hanging: Pace = { tokens: 1, everyMs: 600_000 }
  const replica = await openReplica(url, hanging)
  const runs = await Promise.all(Array.from({ length: 200 }, (_, i) => replica.start(`text ${i}`)))
  const data = JSON.stringify({ type: 'TEXT_MESSAGE_CONTENT', delta: 'x'.repeat(CHARS) })
  const shapes = [
    { sessions: 1, events: 1, rounds: often(1_500) },
    { sessions: 5, events: 1, rounds: often(800) },
    { sessions: 20, events: 1, rounds: often(400) },
    { sessions: 100, events: 1, rounds: often(150) },
    { sessions: 5, events: 10, rounds: often(500) },
    { sessions: 20, events: 10, rounds: often(200) },
    { sessions: 100, events: 5, rounds: often(100) },
  ]
  const points: { shape: (typeof shapes)[number]; cost: Cost; ms: number[] }[] = []
  for (const shape of shapes) {
    const commands = runs.slice(0, shape.sessions).map(({ run, session }) => ({
      type: 'append' as const,
      sessionId: session.id,
      runId: run.id,
      fence: run.fence,
      sync: false,
      entries: Array.from({ length: shape.events }, () => ({ kind: 'event' as const, data })),
    }))
    for (let i = 0; i < 20; i += 1) await replica.store.commit(commands)
    const ms: number[] = []
    const cost = await probe.cost(async () => {
      for (let i = 0; i < shape.rounds; i += 1) {
        const began = performance.now()
        const { results } = await replica.store.commit(commands)
        ms.push(performance.now() - began)
        if (results.some(({ ok }) => !ok)) throw new Error('text was refused')
      }
    })
    points.push({ shape, cost, ms })
    say(`text ${JSON.stringify(shape)}: ${show(cost, shape.rounds)}, p50 ${median(ms).toFixed(2)} ms`)
  }
  const fitted = (of: (cost: Cost) => number) =>
    fitPlane(
      points.map(({ shape, cost }) => ({
        x: [1, shape.sessions, shape.sessions * shape.events],
        y: of(cost) / shape.rounds,
      })),
    )
  const [{ run, session } = missing()] = runs
  const target = { sessionId: session.id, runId: run.id, fence: run.fence }
  const synced = await medianMs(often(200), () =>
    replica.store.commit([{ type: 'append', ...target, sync: true, entries: [{ kind: 'event', data }] }]),
  )
  const unsynced = await medianMs(often(200), () =>
    replica.store.commit([{ type: 'renew_lease', leaseOwner: 'nobody', until: 1, endOthers: false }]),
  )
  say(`a commit with a decision: ${unsynced.toFixed(2)} ms, synced ${synced.toFixed(2)} ms`)
  await replica.close()
  const first = points[0]
  return {
    database: fitted((cost) => cost.databaseCpu),
    client: fitted((cost) => cost.clientCpu),
    wal: fitted((cost) => cost.walBytes),
    tripMs: median(first?.ms ?? []),
    flushMs: synced - unsynced,
  }
}

/** Whole runs of one token, many at a time: what remains when text is taken away. */
async function measureRuns(probe: PostgresProbe, url: string, label: string) {
  const pace: Pace = { tokens: 1, everyMs: 0 }
  const replica = await openReplica(url, pace)
  const each = async (from: number, to: number) => {
    for (let i = from; i < to; i += 1) await replica.follow(await replica.start(`${label} ${i}`))
  }
  await each(0, often(50))
  const aloneRuns = often(150)
  const perClient = often(40)
  const runs = 20 * perClient
  const wall: number[] = []
  await seconds(4)
  const alone = await probe.cost(async () => {
    for (let i = 100; i < 100 + aloneRuns; i += 1) {
      const began = performance.now()
      await each(i, i + 1)
      wall.push(performance.now() - began)
    }
  }, SETTLE_MS)
  const together = await probe.cost(
    () => Promise.all(Array.from({ length: 20 }, (_, i) => each(1_000 + i * perClient, 1_000 + (i + 1) * perClient))),
    SETTLE_MS,
  )
  await replica.close()
  say(`${label}, one at a time: ${show(alone, aloneRuns)}, p50 ${median(wall).toFixed(1)} ms`)
  say(`${label}, 20 at a time: ${show(together, runs)}`)
  return { alone, together, runs, aloneRuns }
}

/** Streams at a set pace, read on the same replica or on another one. */
async function measureStreams(
  probe: PostgresProbe,
  url: string,
  streams: number,
  perSecond: number,
  elsewhere: boolean,
) {
  const tokens = perSecond * often(6)
  const pace: Pace = { tokens, everyMs: 1_000 / perSecond }
  const writer = await openReplica(url, pace)
  const reader = elsewhere ? await openReplica(url, pace) : writer
  await seconds(1)
  const name = `${streams} at ${perSecond} ${elsewhere}`
  const cost = await probe.cost(async () => {
    const runs = await Promise.all(Array.from({ length: streams }, (_, i) => writer.start(`${name} ${i}`)))
    await Promise.all(runs.map((run) => reader.follow(run)))
  })
  await writer.close()
  if (elsewhere) await reader.close()
  const total = streams * tokens
  say(`${streams} streams at ${perSecond}/s, read ${elsewhere ? 'elsewhere' : 'here'}: ${show(cost, total)} per token`)
  return { tokens: total, runShare: streams / total, cost }
}

/** One sender as fast as it can, with more and more listeners. */
async function measureNotify(probe: PostgresProbe, url: string) {
  const payload = JSON.stringify(['measured', [crypto.randomUUID(), crypto.randomUUID()], [], []])
  const listeners: pg.Client[] = []
  const senders = await Promise.all(Array.from({ length: 4 }, () => connect(url)))
  const points: { listeners: number; database: number; client: number }[] = []
  let heard = 0
  for (const wanted of [1, 10, 40, 80]) {
    while (listeners.length < wanted) {
      const client = await connect(url)
      client.on('notification', ({ payload: text = '' }) => {
        heard += JSON.parse(text).length > 0 ? 1 : 0
      })
      await client.query('LISTEN measured')
      listeners.push(client)
    }
    const sends = often(1_200)
    heard = 0
    const cost = await probe.cost(async () => {
      await Promise.all(
        senders.map(async (sender) => {
          for (let i = 0; i < sends / senders.length; i += 1)
            await sender.query({ name: 'notify', text: `SELECT pg_notify('measured', $1)`, values: [payload] })
        }),
      )
      while (heard < sends * wanted) await seconds(0.01)
    })
    points.push({ listeners: wanted, database: cost.databaseCpu / sends, client: cost.clientCpu / sends })
    say(`notify, ${wanted} listeners: ${show(cost, sends)}, ${(sends / cost.wallMs).toFixed(1)}/ms`)
  }
  const backendKib = probe.backendKib()
  for (const client of [...listeners, ...senders]) await client.end()
  return {
    database: slope(points.map(({ listeners: x, database: y }) => ({ x, y }))),
    client: slope(points.map(({ listeners: x, client: y }) => ({ x, y }))),
    backendKib,
  }
}

/** What a reader on another replica asks, and what every replica asks when a run has ended somewhere. */
async function measureReads(probe: PostgresProbe, url: string) {
  const pace: Pace = { tokens: 40, everyMs: 0 }
  const replica = await openReplica(url, pace)
  const runs = await Promise.all(Array.from({ length: 100 }, (_, i) => replica.start(`read ${i}`)))
  await Promise.all(runs.map((run) => replica.follow(run)))
  const ids = runs.map(({ session }) => session.id)
  const [first = ''] = ids
  const { store } = replica
  const one = async (name: string, most: number, work: () => Promise<unknown>) => {
    const rounds = often(most)
    for (let i = 0; i < 30; i += 1) await work()
    const cost = await probe.cost(async () => {
      for (let i = 0; i < rounds; i += 1) await work()
    })
    say(`${name}: ${show(cost, rounds)}`)
    return { database: cost.databaseCpu / rounds, client: cost.clientCpu / rounds }
  }
  const few = await one('heads of 1', 600, () => store.news(new Map([[first, Number.MAX_SAFE_INTEGER]])))
  const many = await one('heads of 100', 200, () => store.news(new Map(ids.map((id) => [id, Number.MAX_SAFE_INTEGER]))))
  const entries = await one('entries', 600, () => store.entries(first, 3, 100))
  const open = await one('open runs', 600, () => store.runs.open(first))
  await replica.close()
  return { few, many, entries, open }
}

async function measureIdle(probe: PostgresProbe, url: string) {
  const pace: Pace = { tokens: 1, everyMs: 0 }
  const replicas = await Promise.all(Array.from({ length: 4 }, () => openReplica(url, pace)))
  await seconds(2)
  const idleSeconds = often(8)
  const n = 4 * idleSeconds
  const cost = await probe.cost(() => seconds(idleSeconds))
  for (const replica of replicas) await replica.close()
  say(`idle: ${show(cost, n)} per replica and second`)
  return { database: cost.databaseCpu / n, client: cost.clientCpu / n, commits: cost.commits / n }
}

/** The next replica must not take over what was only a means. */
const endRuns = (probe: PostgresProbe) => probe.ask(`UPDATE runs SET status = 'completed' WHERE status = 'running'`)

/** 10,000 runs of 100 other replicas that live. */
const OTHERS = 100
const addOthers = `
  INSERT INTO leases SELECT 'other-' || i, 9000000000000 FROM generate_series(1, ${OTHERS}) AS i;
  INSERT INTO runs (session, id, owner, agent, wire_id, status, origin, input, created_at, usage, cancel_requested, fence, lease_owner)
    SELECT 'other' || i, 'other' || i, 'o', 'a', 'w', 'running', 'reader', 'null', i, '[]', false, 1, 'other-' || i % ${OTHERS} + 1 FROM generate_series(1, 10000) AS i;
  ANALYZE runs`
const removeOthers = `DELETE FROM leases WHERE owner LIKE 'other-%'; DELETE FROM runs WHERE lease_owner LIKE 'other-%'`

/** With 500 runs that stream and are read: the heap that each takes. And what it costs to look for runs of dead replicas. */
async function measureRunning(probe: PostgresProbe, url: string) {
  const pace: Pace = { tokens: 1, everyMs: 600_000 }
  const replica: Replica = await openReplica(url, pace)
  await replica.start('warm')
  const look = async (rounds: number) => {
    const { databaseCpu } = await probe.cost(async () => {
      for (let i = 0; i < rounds; i += 1) await replica.store.runs.orphans(Date.now(), 100)
    })
    return databaseCpu / rounds
  }
  const few = await look(often(300))
  await probe.ask(addOthers)
  const many = await look(often(100))
  await probe.ask(removeOthers)
  global.gc?.()
  const before = process.memoryUsage().heapUsed
  const runs = await Promise.all(Array.from({ length: 500 }, (_, i) => replica.start(`running ${i}`)))
  const stop = new AbortController()
  const following = runs.map(async ({ run, session }) => {
    for await (const _ of replica.engine.runs.follow({ sessionId: session.id, runId: run.id, after: 0 }, stop.signal));
  })
  await seconds(1)
  global.gc?.()
  const runKib = (process.memoryUsage().heapUsed - before) / 500 / 1_024
  stop.abort()
  await Promise.all(following)
  await replica.close()
  say(
    `looking for dead replicas: ${few.toFixed(0)} µs, with ${OTHERS} others ${many.toFixed(0)} µs; ${runKib.toFixed(1)} KiB a run`,
  )
  return { runKib, perOwner: (many - few) / OTHERS }
}

/** A server that logs every statement, to count them. */
async function countStatements(): Promise<number> {
  let count = 0
  const log = (line: string) => {
    if (/(execute|statement)[^:]*: /.test(line)) count += 1
  }
  const server = await startPostgres({ settings: { log_statement: 'all' }, log })
  const pace: Pace = { tokens: 1, everyMs: 0 }
  const replica = await openReplica(server.url, pace)
  for (let i = 0; i < 20; i += 1) await replica.follow(await replica.start(`count ${i}`))
  await seconds(0.5)
  const before = count
  const began = performance.now()
  for (let i = 20; i < 70; i += 1) await replica.follow(await replica.start(`count ${i}`))
  const took = performance.now() - began
  await seconds(0.5)
  const inRuns = count - before
  const idleFrom = count
  await seconds(5)
  const idle = (count - idleFrom) / 5_500
  await replica.close()
  await server.discard()
  return (inRuns - idle * (took + 500)) / 50
}

/** Rows of a million sessions that nobody uses, in the tables that a run touches. */
async function storeSessions(probe: PostgresProbe, sessions: number): Promise<void> {
  const ids = `SELECT 'stored-' || md5(n::text) AS id, n FROM generate_series(1, ${sessions}) AS n`
  await probe.ask(`SET synchronous_commit = off`)
  await probe.ask(`INSERT INTO sessions (id, owner, agent, status, created_at, last_activity, metadata, message_count, unlisted, compacted)
    SELECT id, 'user-' || n % 1000, 'tester', 'active', n, n, '{}', 2, false, true FROM (${ids}) AS s`)
  await probe.ask(`INSERT INTO heads (session, head, ceiling) SELECT id, 10, 10 FROM (${ids}) AS s`)
  await probe.ask(`INSERT INTO entries (session, last_seq, first_seq, run_id, data)
    SELECT id, 10, 1, 'run-' || id, repeat('{"type":"TEXT_MESSAGE_CONTENT"}', 8) FROM (${ids}) AS s`)
  await probe.ask(`INSERT INTO routes (kind, id, session) SELECT 'run', 'run-' || id, id FROM (${ids}) AS s`)
  await probe.ask('ANALYZE')
}

const show = (cost: Cost, n: number): string =>
  `database ${(cost.databaseCpu / n).toFixed(0)} µs, client ${(cost.clientCpu / n).toFixed(0)} µs, WAL ${(cost.walBytes / n).toFixed(0)} bytes, ` +
  `${(cost.commits / n).toFixed(2)} commits, ${(cost.inserted / n).toFixed(2)} inserted, ${(cost.updated / n).toFixed(2)} updated`

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function medianMs(rounds: number, work: () => Promise<unknown>): Promise<number> {
  const ms: number[] = []
  for (let i = 0; i < rounds; i += 1) {
    const began = performance.now()
    await work()
    ms.push(performance.now() - began)
  }
  return median(ms)
}

function missing(): never {
  throw new Error('Nothing was measured.')
}

const round = (value: number, digits = 1): number => Number(Math.max(0, value).toFixed(digits))

async function main(): Promise<void> {
  const stored = isQuick ? 1_000 : 1_000_000
  const server = await startPostgres({
    settings: { max_connections: 200, shared_buffers: '256MB', max_wal_size: '8GB', autovacuum: 'on' },
  })
  try {
    const { url } = server
    const first = await openReplica(url, { tokens: 1, everyMs: 0 })
    await first.close()
    const probe = await openProbe(server, url)
    const idle = await measureIdle(probe, url)
    const text = await measureText(probe, url)
    await endRuns(probe)
    const runs = await measureRuns(probe, url, 'run')
    const streams = [
      await measureStreams(probe, url, 50, 20, false),
      await measureStreams(probe, url, 200, 5, false),
      await measureStreams(probe, url, 50, 20, true),
    ]
    const notify = await measureNotify(probe, url)
    const reads = await measureReads(probe, url)
    const running = await measureRunning(probe, url)
    await endRuns(probe)
    await storeSessions(probe, stored)
    const storedRuns = await measureRuns(probe, url, 'run with a million sessions stored')
    await probe.close()
    const statements = await countStatements()
    const { together, alone } = runs
    const perRun = (cost: (cost: Cost) => number) => round(cost(together) / runs.runs)
    const [groupUs = 0, rowUs = 0, eventUs = 0] = text.database
    const [groupClient = 0, rowClient = 0, eventClient = 0] = text.client
    const [groupWal = 0, rowWal = 0, eventWal = 0] = text.wal
    const here = streams[0] ?? missing()
    const constants: ScaleConstants = {
      measured: {
        on: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.versions.node}`,
        at: new Date().toISOString().slice(0, 10),
      },
      text: {
        databaseUs: { group: round(groupUs), row: round(rowUs), event: round(eventUs, 2) },
        clientUs: { group: round(groupClient), row: round(rowClient), event: round(eventClient, 2) },
        walBytes: { group: round(groupWal, 0), row: round(rowWal, 0), event: round(eventWal, 0) },
        tripMs: round(text.tripMs, 2),
      },
      run: {
        databaseUs: perRun((cost) => cost.databaseCpu),
        clientUs: perRun((cost) => cost.clientCpu),
        walBytes: round(together.walBytes / runs.runs, 0),
        inserted: perRun((cost) => cost.inserted),
        updated: perRun((cost) => cost.updated),
        commits: round(alone.commits / runs.aloneRuns),
        statements: round(statements),
        // Less work than without them can only be noise.
        storedFactor: Math.max(1, round(storedRuns.together.databaseCpu / together.databaseCpu, 2)),
      },
      token: { clientUs: round(here.cost.clientCpu / here.tokens - here.runShare * perRun((cost) => cost.clientCpu)) },
      notify: {
        databaseUs: { send: round(notify.database.at0), listener: round(notify.database.perUnit, 2) },
        clientUs: { send: round(notify.client.at0), hear: round(notify.client.perUnit, 2) },
      },
      read: {
        heads: { query: round(reads.few.database), row: round((reads.many.database - reads.few.database) / 99, 2) },
        entries: round(reads.entries.database),
        openRuns: round(reads.open.database),
        owner: round(running.perOwner, 2),
        clientUs: round(reads.open.client),
      },
      idle: { databaseUs: round(idle.database), clientUs: round(idle.client), commits: round(idle.commits) },
      flushMs: round(text.flushMs, 2),
      memory: { backendKib: notify.backendKib, runKib: round(running.runKib) },
    }
    const written = `${JSON.stringify(constants, null, 2)}\n`
    if (!isQuick) writeFileSync(join(import.meta.dirname, 'constants.json'), written)
    say(written)
  } finally {
    await server.discard()
  }
}

await main()
