import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type Figure, figureOf, round, skipped } from '../figure.ts'
import type { Percentiles } from '../percentiles.ts'
import { hasLibrary } from '../process-stat.ts'
import type { LoadResult, Stage, Target } from '../stage.ts'
import { allProblems, alternate, medianOf, type Scenario, warmUp } from './scenario.ts'

const ROUNDS = 3
const SYNC_MS = 5
const SHIM = 'slow-sync.so'

/** Time from the model's write to the client's read, with 50 streams at 50 tokens per second, minus the floor's time. */
export const latency: Scenario = {
  name: 'latency',
  run: async (stage, { seconds }) => measure('latency', stage, await stage.server(), seconds, ''),
}

/** The same on a disk whose sync takes 5 ms longer. */
export const slowDisk: Scenario = {
  name: 'slow-disk',
  async run(stage, { seconds }) {
    const library = join(stage.folder('shim'), SHIM)
    const source = join(import.meta.dirname, '..', 'slow-sync.c')
    const compiled = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'], { encoding: 'utf8' })
    if (compiled.error !== undefined) return [skipped('slow-disk', 'no C compiler (cc) here to build slow-sync.c')]
    if (compiled.status !== 0) throw new Error(`slow-sync.c does not compile\n${compiled.stderr}`)
    const server = await stage.server({ env: { LD_PRELOAD: library, SLOW_SYNC_MS: String(SYNC_MS) } })
    if (!hasLibrary(server.child.pid, SHIM)) throw new Error(`${SHIM} was not loaded into the server`)
    return measure('slow-disk', stage, server, seconds, `every sync takes ${SYNC_MS} ms more`)
  },
}

async function measure(
  scenario: string,
  stage: Stage,
  server: Target,
  seconds: number | null,
  condition: string,
): Promise<Figure[]> {
  const targets = [await stage.floor(), server]
  await warmUp(stage, targets)
  const [floor = [], served = []] = await alternate(stage, targets, ROUNDS, () => ({
    parallel: 50,
    runs: 50 * Math.max(Math.round((seconds ?? 8) / 4), 1),
    message: 'paced:50',
    tokens: 200,
    rampMs: 1000,
  }))
  await Promise.all(targets.map((target) => target.stop()))

  const problems = allProblems([...floor, ...served])
  const note = [condition, `${ROUNDS} rounds each`].filter((part) => part !== '').join('; ')
  const figure = (what: string, limit: number, pick: (delay: Percentiles) => number): Figure => {
    const delay = (result: LoadResult): number => (result.delayMs === null ? Number.NaN : pick(result.delayMs))
    const base = medianOf(floor, delay)
    const total = medianOf(served, delay)
    return figureOf({
      scenario,
      what: `added delay per token, ${what}`,
      base: `${round(base)} ms`,
      server: `${round(total)} ms`,
      value: total - base,
      limit,
      unit: ' ms',
      problems,
      note,
    })
  }
  return [figure('median', 5, (delay) => delay.p50), figure('p99', 25, (delay) => delay.p99)]
}
