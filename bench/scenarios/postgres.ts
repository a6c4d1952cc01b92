import { setTimeout as delay } from 'node:timers/promises'
import { type Figure, figureOf, noted, round, skipped } from '../figure.ts'
import type { Percentiles } from '../percentiles.ts'
import { median } from '../percentiles.ts'
import { type Databases, less, openDatabases } from '../postgres/databases.ts'
import { fillSessions } from '../postgres/fill-sessions.ts'
import { measureTakeover } from '../postgres/takeover.ts'
import type { LoadPlan, LoadResult, Stage, Target } from '../stage.ts'
import { allProblems, alternate, medianOf, type Scenario, warmUp } from './scenario.ts'

const NAME = 'postgres'
const ROUNDS = 5
const DELAY_ROUNDS = 3
const STREAMS = 1_000
const RAMP_MS = 5_000
const STREAM_SECONDS = 30
/** A stream whose tokens are later than this is open, but not held. */
const HELD_WITHIN_MS = 1_000
const KILLED_RUNS = 20
const STORED_SESSIONS = 1_000_000
/** After this time, the words of a new message are in the search index. */
const INDEXED_MS = 3_000

/** What sessions on Postgres cost, and what several servers on one database do. */
export const postgres: Scenario = {
  name: NAME,
  async run(stage, { seconds }) {
    const databases = await openDatabases(stage)
    const parts: Record<string, () => Promise<Figure[]>> = {
      'CPU of a replica per run': () => cpuPerRun(stage, databases, seconds),
      'added delay per token': () => tokenDelay(stage, databases, seconds),
      'streams on several replicas': () => manyStreams(stage, databases),
      takeover: () => takeover(databases),
      'work of Postgres per run': () => workPerRun(stage, databases),
      'next run beside stored sessions': () => storedSessions(stage, databases, seconds),
    }
    const figures: Figure[] = []
    try {
      for (const [what, part] of Object.entries(parts)) {
        const measured = await part().catch((error: unknown) => [notMeasured(what, error)])
        // The whole scenario takes minutes.
        for (const one of measured) process.stdout.write(`  ${one.outcome} ${one.what} ${one.value}\n`)
        figures.push(...measured)
        await stage.clear()
      }
    } finally {
      await databases.close()
    }
    return figures
  },
}

const notMeasured = (what: string, error: unknown): Figure => ({
  ...skipped(NAME, error instanceof Error ? error.message.replaceAll('\n', ' / ').slice(0, 400) : String(error)),
  ...{ what, outcome: 'missed' },
})

/** Another server lives on the database, so the one that is measured also tells it what it writes. */
async function cpuPerRun(stage: Stage, databases: Databases, seconds: number | null): Promise<Figure[]> {
  const url = await databases.create()
  const targets = [await stage.server({ name: 'SQLite' }), await databases.server(url)]
  const other = await databases.server(url, { name: 'the other replica', anyCore: true })
  // The same number of runs, not the same time: code that has run more often is faster.
  const full: LoadPlan = { parallel: 20, runs: 300 * (seconds ?? 5), message: 'full', tokens: 200 }
  for (const target of targets) await stage.load(target, full)
  const plans: [string, LoadPlan, number][] = [
    ['20 streams at full speed', full, ROUNDS],
    [
      '200 streams at 50 tokens/s',
      { parallel: 200, runs: 400, message: 'paced:50', tokens: 200, rampMs: 1_000 },
      DELAY_ROUNDS,
    ],
  ]
  const figures: Figure[] = []
  for (const [what, plan, rounds] of plans) {
    const before = databases.cpuMs()
    const [sqlite = [], shared = []] = await alternate(stage, targets, rounds, () => plan)
    const base = medianOf(sqlite, (result) => result.cpuMsPerRun)
    const cost = medianOf(shared, (result) => result.cpuMsPerRun)
    const runs = shared.reduce((sum, result) => sum + result.runs, 0)
    figures.push(
      figureOf({
        scenario: NAME,
        what: `CPU of a replica per run, ${what}`,
        base: `${round(base)} ms`,
        server: `${round(cost)} ms`,
        value: cost / base,
        limit: 1.2,
        unit: '×',
        problems: allProblems([...sqlite, ...shared]),
        note: `against SQLite, ${rounds} rounds each, ${runs} runs on Postgres, which itself used ${round((databases.cpuMs() - before) / runs)} ms a run; another replica was there`,
      }),
    )
  }
  await Promise.all([...targets, other].map((target) => target.stop()))
  return figures
}

/** The reader is at the replica that executes the run, or at another one. */
async function tokenDelay(stage: Stage, databases: Databases, seconds: number | null): Promise<Figure[]> {
  const url = await databases.create()
  const floor = await stage.floor()
  const here = await databases.server(url, { anyCore: true })
  const elsewhere = await databases.server(url, { name: 'the other replica', anyCore: true })
  const all = [floor, here, elsewhere]
  await warmUp(stage, all)
  const plan: LoadPlan = {
    parallel: 50,
    runs: 50 * Math.max(Math.round((seconds ?? 10) / 10), 1),
    message: 'paced:20',
    tokens: 200,
    rampMs: 1_000,
  }
  const results = await alternate(stage, all, DELAY_ROUNDS, (target) =>
    target === elsewhere ? { ...plan, startAt: here } : plan,
  )
  await Promise.all(all.map((target) => target.stop()))

  const [floors = [], ...served] = results
  const places = ['the same replica', 'another replica']
  return served.flatMap((ofOne, i) => {
    const figure = (what: string, limit: number, pick: (delay: Percentiles) => number): Figure => {
      const delayOf = (result: LoadResult): number => (result.delayMs === null ? Number.NaN : pick(result.delayMs))
      const base = medianOf(floors, delayOf)
      const total = medianOf(ofOne, delayOf)
      return figureOf({
        scenario: NAME,
        what: `added delay per token, reader at ${places[i]}, ${what}`,
        base: `${round(base)} ms`,
        server: `${round(total)} ms`,
        value: total - base,
        limit,
        unit: ' ms',
        problems: allProblems([...floors, ...ofOne]),
        note: `50 streams at 20 tokens/s, ${DELAY_ROUNDS} rounds each, both replicas and Postgres on both cores`,
      })
    }
    return [figure('median', 8, ({ p50 }) => p50), figure('p99', 40, ({ p99 }) => p99)]
  })
}

async function manyStreams(stage: Stage, databases: Databases): Promise<Figure[]> {
  const url = await databases.create()
  const replicas = [await databases.server(url, { anyCore: true })]
  for (let i = 0; i < 2; i += 1) replicas.push(await databases.server(url, { anyCore: true }))
  await warmUp(stage, replicas)
  const results = await Promise.all(
    replicas.map((replica, i) => {
      const parallel = Math.floor((STREAMS + i) / replicas.length)
      const tokens = 5 * (STREAM_SECONDS + RAMP_MS / 1_000)
      return stage.load(replica, { parallel, runs: parallel, message: 'paced:5', tokens, rampMs: RAMP_MS })
    }),
  )
  await Promise.all(replicas.map((replica) => replica.stop()))
  const p99 = Math.max(...results.map((result) => result.delayMs?.p99 ?? Number.NaN))
  const runs = results.reduce((sum, result) => sum + result.runs, 0)
  const late = p99 <= HELD_WITHIN_MS ? [] : [`not held: p99 of the delay is ${round(p99)} ms`]
  return [
    figureOf({
      scenario: NAME,
      what: `failures of ${runs} streams on ${replicas.length} replicas`,
      server: `p99 of the delay ${round(p99)} ms`,
      value: results.reduce((sum, result) => sum + result.failed, 0),
      limit: 0,
      unit: ' failed',
      problems: [...allProblems(results), ...late],
      note: `5 tokens/s each, ${STREAM_SECONDS} s together, everything on both cores; ${round(median(results.map((one) => one.cpuMsPerRun)))} ms of CPU of a replica per run`,
    }),
  ]
}

async function takeover(databases: Databases): Promise<Figure[]> {
  const url = await databases.create()
  const dies = await databases.server(url, { anyCore: true })
  const stays = await databases.server(url, { name: 'the other replica', anyCore: true })
  const times = await measureTakeover(dies, stays, KILLED_RUNS)
  await stays.stop()
  const worst = Math.max(...times)
  return [
    figureOf({
      scenario: NAME,
      what: `takeover of ${KILLED_RUNS} runs after kill -9`,
      server: `median ${round(median(times) / 1000)} s`,
      value: worst,
      limit: 15_000,
      unit: ' ms',
      note: 'slowest; from the kill to the first token that the model wrote after it, as a reader at the other replica gets it',
    }),
  ]
}

/** For the model of costs in bench/SCALE.md. */
async function workPerRun(stage: Stage, databases: Databases): Promise<Figure[]> {
  const url = await databases.create()
  const server = await databases.server(url)
  const other = await databases.server(url, { name: 'the other replica', anyCore: true })
  await warmUp(stage, [server])
  const plans: [string, LoadPlan][] = [
    ['20 streams at full speed', { parallel: 20, runs: 1_000, message: 'full', tokens: 200 }],
    ['50 streams at 20 tokens/s', { parallel: 50, runs: 100, message: 'paced:20', tokens: 200, rampMs: 1_000 }],
    ['1 stream at 20 tokens/s', { parallel: 1, runs: 2, message: 'paced:20', tokens: 200 }],
  ]
  const figures: Figure[] = []
  for (const [what, plan] of plans) {
    const before = await databases.work(url)
    const postgresCpu = databases.cpuMs()
    const { runs, cpuMsPerRun, problems } = await stage.load(server, plan)
    const cpu = (databases.cpuMs() - postgresCpu) / runs
    const work = less(await databases.work(url), before)
    const each = (value: number): string => round(value / runs)
    figures.push(
      noted(
        NAME,
        `work of Postgres per run, ${what}`,
        `${each(work.walBytes / 1_000)} KB of WAL`,
        [
          ...problems,
          `${each(work.rowsAdded)} rows added, ${each(work.rowsChanged)} changed or removed, ${each(work.statements)} statements, ${each(work.commits)} transactions, ${each(work.notifies)} NOTIFYs`,
          `${each(work.walSyncs)} syncs of the WAL`,
          `CPU ${round(cpu)} ms, of the replica ${round(cpuMsPerRun)} ms`,
          '200 tokens a run; another replica was there, and the pauses before and after are counted too',
        ].join('; '),
      ),
    )
  }
  await Promise.all([server, other].map((target) => target.stop()))
  return figures
}

/** The work of the database counts here too: that is where the stored sessions are. */
async function storedSessions(stage: Stage, databases: Databases, seconds: number | null): Promise<Figure[]> {
  const urls = [await databases.create(), await databases.create()]
  const [, filled = ''] = urls
  const template = await databases.server(filled)
  await stage.load(template, { parallel: 1, runs: 1, message: 'full', tokens: 20 })
  await delay(INDEXED_MS)
  await template.stop()
  await fillSessions(filled, STORED_SESSIONS)
  const targets: Target[] = []
  for (const url of urls) targets.push(await databases.server(url))
  await warmUp(stage, targets)

  const costs: { results: LoadResult[]; cpu: number[] }[] = targets.map(() => ({ results: [], cpu: [] }))
  for (let i = 0; i < ROUNDS; i += 1) {
    for (const [at, target] of targets.entries()) {
      const before = databases.cpuMs()
      const result = await stage.load(target, { parallel: 20, seconds: seconds ?? 5, message: 'full', tokens: 200 })
      costs[at]?.results.push(result)
      costs[at]?.cpu.push(result.cpuMsPerRun + (databases.cpuMs() - before) / result.runs)
    }
  }
  await Promise.all(targets.map((target) => target.stop()))
  const [few, many] = costs.map(({ cpu }) => median(cpu))
  const [rateOfFew, rateOfMany] = costs.map(({ results }) =>
    medianOf(results, ({ runs, seconds: took }) => runs / took),
  )
  return [
    figureOf({
      scenario: NAME,
      what: `next run beside ${STORED_SESSIONS} stored sessions`,
      base: `${round(few ?? Number.NaN)} ms`,
      server: `${round(many ?? Number.NaN)} ms`,
      value: ((many ?? Number.NaN) / (few ?? Number.NaN) - 1) * 100,
      limit: 10,
      unit: ' %',
      problems: allProblems(costs.flatMap(({ results }) => results)),
      note: `CPU of replica and Postgres per run, median of ${ROUNDS} rounds each; new sessions on both, against an empty database; ${round(rateOfFew ?? Number.NaN)} and ${round(rateOfMany ?? Number.NaN)} runs/s`,
    }),
  ]
}
