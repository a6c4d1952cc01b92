import { join } from 'node:path'
import { startChild } from '../child.ts'
import { type Figure, figureOf, round } from '../figure.ts'
import { liveMemory, PROBE_FILE } from '../live-memory.ts'
import { HISTORY_THREAD, type SeedPlan } from '../seed.ts'
import type { LoadPlan, Stage, Target } from '../stage.ts'
import { allProblems, alternate, medianOf, type Scenario, warmUp } from './scenario.ts'

const LIVE_SESSIONS = 100
const MESSAGES_EACH = 50
const SMALL_RUNS: LoadPlan = { parallel: 20, message: 'full', tokens: 50 }
const ROUNDS = 5
/** More than fits the context window, so that the model gets as much as in the long session. */
const SHORT_HISTORY = 400
const LONG_HISTORY = 10_000
const STORED_SESSIONS = 100_000

/** The memory of live sessions, and what many stored sessions and long sessions cost the next run. */
export const sessions: Scenario = {
  name: 'sessions',
  async run(stage, { seconds }) {
    return [await liveSessions(stage), ...(await storedSessions(stage, seconds))]
  },
}

async function liveSessions(stage: Stage): Promise<Figure> {
  const file = join(stage.folder('memory'), 'alive.json')
  const server = await stage.server({
    nodeArgs: ['--expose-gc', '--import', join(import.meta.dirname, '..', 'memory-probe.ts')],
    env: { [PROBE_FILE]: file },
  })
  // Warms up with few sessions: with many, a bounded cache could drop them in favour of those that are measured.
  await stage.load(server, { ...SMALL_RUNS, runs: 1000, threads: SMALL_RUNS.parallel })
  const before = await liveMemory(server.child.pid, file)
  const result = await stage.load(server, {
    ...SMALL_RUNS,
    runs: (LIVE_SESSIONS * MESSAGES_EACH) / 2,
    threads: LIVE_SESSIONS,
  })
  const after = await liveMemory(server.child.pid, file)
  await server.stop()
  return figureOf({
    scenario: 'sessions',
    what: `${LIVE_SESSIONS} live sessions of ${MESSAGES_EACH} messages`,
    base: `${round(before.aliveMb)} MB`,
    server: `${round(after.aliveMb)} MB`,
    value: after.aliveMb - before.aliveMb,
    limit: 6,
    unit: ' MB',
    problems: result.problems,
    note: `alive after a forced collection, main thread; resident memory ${round(before.rssMb)} → ${round(after.rssMb)} MB`,
  })
}

async function storedSessions(stage: Stage, seconds: number | null): Promise<Figure[]> {
  const small = await seededServer(stage, 'few sessions', { sessions: 10, history: SHORT_HISTORY })
  const long = await seededServer(stage, 'a long session', { sessions: 10, history: LONG_HISTORY })
  const many = await seededServer(stage, 'many sessions', { sessions: STORED_SESSIONS, history: 0 })
  await warmUp(stage, [small, long, many])

  const length = seconds ?? 5
  const plan: LoadPlan = { parallel: 1, seconds: length, message: 'full', tokens: 200, thread: HISTORY_THREAD }
  const [shortRuns = [], longRuns = []] = await alternate(stage, [small, long], ROUNDS, () => plan)
  const fresh: LoadPlan = { parallel: 20, seconds: length, message: 'full', tokens: 200 }
  const [fewRuns = [], manyRuns = []] = await alternate(stage, [small, many], ROUNDS, () => fresh)
  await Promise.all([small, long, many].map((target) => target.stop()))

  const compare = (what: string, base: typeof fewRuns, grown: typeof fewRuns, note: string): Figure => {
    const before = medianOf(base, (result) => result.cpuMsPerRun)
    const after = medianOf(grown, (result) => result.cpuMsPerRun)
    return figureOf({
      scenario: 'sessions',
      what,
      base: `${round(before)} ms`,
      server: `${round(after)} ms`,
      value: (after / before - 1) * 100,
      limit: 10,
      unit: ' %',
      problems: allProblems([...base, ...grown]),
      note: `CPU per run, median of ${ROUNDS} rounds each; ${note}`,
    })
  }
  return [
    compare(
      `next run after ${LONG_HISTORY} messages`,
      shortRuns,
      longRuns,
      `against a session of ${SHORT_HISTORY} messages, which fills the context window as well`,
    ),
    compare(
      `next run beside ${STORED_SESSIONS} stored sessions`,
      fewRuns,
      manyRuns,
      'new sessions on both, against 10 stored ones',
    ),
  ]
}

/** Starts a server to make a data directory, fills the directory while no server runs, and starts a server on it again. */
async function seededServer(stage: Stage, name: string, plan: SeedPlan): Promise<Target> {
  const dataDir = stage.folder('seeded')
  await (await stage.server({ dataDir })).stop()
  const seeding = startChild({
    name: 'seeding',
    args: [
      join(import.meta.dirname, '..', 'seed.ts'),
      '--data-dir',
      dataDir,
      '--sessions',
      String(plan.sessions),
      '--history',
      String(plan.history),
    ],
    core: null,
  })
  await seeding.output()
  return stage.server({ name: `the server with ${name}`, dataDir })
}
