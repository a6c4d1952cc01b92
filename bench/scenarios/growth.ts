import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startChild } from '../child.ts'
import { type Figure, figureOf, round } from '../figure.ts'
import { median } from '../percentiles.ts'
import { cpuMs } from '../process-stat.ts'
import { HISTORY_THREAD, type SeedPlan } from '../seed.ts'
import type { LoadPlan, Stage, Target } from '../stage.ts'
import { allProblems, alternate, medianOf, type Scenario, warmUp } from './scenario.ts'

const NAME = 'growth'
const ROUNDS = 5
const RUNS = 100
const STORED = [10, 1_000, 100_000]
const MESSAGES = [10, 1_000, 10_000]
const OPEN = [1, 100, 1_000]
const PLAN: LoadPlan = { parallel: 1, runs: RUNS, message: 'full', tokens: 200 }
/** Streams are opened at this pace. */
const MS_PER_STREAM = 5
const OPENED_MS = 1_000
/** How long a server is watched that does nothing but hold its streams. */
const QUIET_MS = 500

/** What a run costs beside more stored sessions, after more messages, and beside more open streams. */
export const growth: Scenario = {
  name: NAME,
  async run(stage) {
    const figures: Figure[] = []
    for (const part of [besideStored, afterMessages, besideStreams]) {
      figures.push(...(await part(stage)))
      await stage.clear()
    }
    return figures
  },
}

/** Runs of new sessions. */
async function besideStored(stage: Stage): Promise<Figure[]> {
  const targets: Target[] = []
  for (const sessions of STORED) targets.push(await seededServer(stage, { sessions, history: 0 }))
  await warmUp(stage, targets)
  const results = await alternate(stage, targets, ROUNDS, () => ({ ...PLAN, untilRested: true }))
  const costs = results.map((ofOne) => medianOf(ofOne, (result) => result.cpuMsPerRun))
  return [slope('stored sessions', STORED, costs, allProblems(results.flat()), 'each run in a new session')]
}

async function afterMessages(stage: Stage): Promise<Figure[]> {
  const targets: Target[] = []
  // A short session would grow with each run, so there are as many as runs of a round.
  for (const [i, history] of MESSAGES.entries()) {
    targets.push(await seededServer(stage, { sessions: 10, history, copies: i === 0 ? RUNS : 0 }))
  }
  await warmUp(stage, targets)
  const results = await alternate(stage, targets, ROUNDS, (target) => ({
    ...PLAN,
    thread: HISTORY_THREAD,
    threads: target === targets[0] ? RUNS : 0,
    untilRested: true,
  }))
  const costs = results.map((ofOne) => medianOf(ofOne, (result) => result.cpuMsPerRun))
  const note = 'from 1,000 on the model gets the newest 200 messages, which is why the first step costs more'
  return [slope('messages in the session', MESSAGES, costs, allProblems(results.flat()), note, 1)]
}

/** The streams are runs whose model is silent. What they cost by themselves is taken off. */
async function besideStreams(stage: Stage): Promise<Figure[]> {
  const targets: Target[] = []
  for (let i = 0; i < OPEN.length; i += 1) targets.push(await stage.server())
  await warmUp(stage, targets)
  const ended: string[] = []
  for (const [i, target] of targets.entries()) {
    const parallel = OPEN[i] ?? 1
    const rampMs = MS_PER_STREAM * parallel
    // They end with the servers.
    void stage.load(target, { parallel, runs: parallel, message: 'silent', tokens: 1, rampMs }).then(
      ({ problems }) => ended.push(`the open streams ended early: ${problems.join()}`),
      () => {},
    )
    await delay(rampMs + OPENED_MS)
  }
  const costs: number[][] = targets.map(() => [])
  const problems: string[] = []
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    for (const [i, target] of targets.entries()) {
      const quiet = await quietCpu(target)
      const result = await stage.load(target, PLAN)
      costs[i]?.push(result.cpuMsPerRun - (quiet * result.seconds * 1_000) / result.runs)
      problems.push(...result.problems)
    }
  }
  problems.push(...ended)
  return [slope('open streams beside it', OPEN, costs.map(median), problems, 'what silent streams cost is taken off')]
}

/** Share of a core that the server uses by itself. */
async function quietCpu(target: Target): Promise<number> {
  const [before, since] = [cpuMs(target.child.pid), performance.now()]
  await delay(QUIET_MS)
  return (cpuMs(target.child.pid) - before) / (performance.now() - since)
}

/** The last size is compared with the one at `from`. */
function slope(
  what: string,
  sizes: readonly number[],
  costs: readonly number[],
  problems: readonly string[],
  note: string,
  from = 0,
): Figure {
  const [base = Number.NaN, last = Number.NaN] = [costs[from], costs.at(-1)]
  const each = sizes.map((size, i) => `${size}: ${round(costs[i] ?? Number.NaN)} ms`)
  return figureOf({
    scenario: NAME,
    what: `a run, ${sizes[from]} to ${sizes.at(-1)} ${what}`,
    base: `${round(base)} ms`,
    server: `${round(last)} ms`,
    value: (last / base - 1) * 100,
    limit: 10,
    unit: ' %',
    problems,
    note: `${each.join(', ')}; CPU per run, median of ${ROUNDS} rounds in turn, one run after the other; ${note}`,
  })
}

/** Fills a data directory, and starts a server on it. */
async function seededServer(stage: Stage, { sessions, history, copies = 0 }: SeedPlan): Promise<Target> {
  const dataDir = stage.folder('seeded')
  const plan = { '--data-dir': dataDir, '--sessions': sessions, '--history': history, '--copies': copies }
  const args = [join(import.meta.dirname, '..', 'seed.ts'), ...Object.entries(plan).flat().map(String)]
  await startChild({ name: 'seeding', args, core: null }).output()
  const server = await stage.server({ name: `the server with ${sessions} sessions and ${history} messages`, dataDir })
  // The search index of what was filled in.
  await server.rested()
  return server
}
