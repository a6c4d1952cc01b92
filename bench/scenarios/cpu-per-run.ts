import { type Figure, figureOf, round } from '../figure.ts'
import type { LoadPlan, LoadResult } from '../stage.ts'
import { allProblems, alternate, medianOf, type Scenario, warmUp } from './scenario.ts'

interface CpuScenario {
  name: string
  plan(seconds: number | null): LoadPlan
  rounds: number
  limit: number
  /** Limit for the first event's delay. Null: it is not looked at. */
  first: number | null
}

/** CPU of all threads of the server per run until its search index has caught up, as a multiple of the floor's. */
function createCpuScenario({ name, plan, rounds, limit, first }: CpuScenario): Scenario {
  return {
    name,
    async run(stage, { seconds }) {
      const targets = [await stage.floor(), await stage.server()]
      await warmUp(stage, targets)
      const [floor = [], server = []] = await alternate(stage, targets, rounds, () => ({
        ...plan(seconds),
        untilRested: true,
      }))
      await Promise.all(targets.map((target) => target.stop()))

      const base = medianOf(floor, (result) => result.cpuMsPerRun)
      const cost = medianOf(server, (result) => result.cpuMsPerRun)
      const busy = Math.max(...[...floor, ...server].map((result) => result.loadCore))
      const merged = medianOf(server, (result) => result.contentEvents / result.tokens)
      return [
        ...(first === null ? [] : [firstEvent(name, floor, server, first)]),
        figureOf({
          scenario: name,
          what: 'CPU per run',
          base: `${round(base)} ms`,
          server: `${round(cost)} ms`,
          value: cost / base,
          limit,
          unit: '×',
          problems: allProblems([...floor, ...server]),
          note: [
            `${rounds} rounds each, ${server.reduce((sum, result) => sum + result.runs, 0)} runs of the server`,
            `load and model used up to ${Math.round(busy * 100)} % of their core`,
            ...(busy > 0.95 ? ['they were the limit: the target was not saturated'] : []),
            ...(merged < 1 ? [`the server merges deltas: ${round(merged)} events a token`] : []),
          ].join('; '),
        }),
      ]
    },
  }
}

/** How long a client waits for the first event of its answer, while as many others are served. */
function firstEvent(
  scenario: string,
  floor: readonly LoadResult[],
  server: readonly LoadResult[],
  limit: number,
): Figure {
  const p50 = ({ firstEventMs }: LoadResult): number => firstEventMs?.p50 ?? Number.NaN
  const [base, wait] = [medianOf(floor, p50), medianOf(server, p50)]
  return figureOf({
    scenario,
    what: 'request to the first event, p50',
    base: `${round(base)} ms`,
    server: `${round(wait)} ms`,
    value: wait / base,
    limit,
    unit: '×',
    problems: [],
    note: 'in the same rounds',
  })
}

/** 20 streams of 200 tokens at full speed. */
export const full: Scenario = createCpuScenario({
  name: 'full',
  plan: (seconds) => ({ parallel: 20, seconds: seconds ?? 5, message: 'full', tokens: 200 }),
  rounds: 5,
  limit: 2,
  first: 1.6,
})

/** 200 streams at 50 tokens per second. A run takes 4 s, so a round is a multiple of 4 s. */
export const paced: Scenario = createCpuScenario({
  name: 'paced',
  plan: (seconds) => ({
    parallel: 200,
    runs: 200 * Math.max(Math.round((seconds ?? 8) / 4), 1),
    message: 'paced:50',
    tokens: 200,
    rampMs: 1000,
  }),
  rounds: 3,
  limit: 1.5,
  first: null,
})
