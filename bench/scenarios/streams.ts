import { setTimeout as delay } from 'node:timers/promises'
import { figureOf, round } from '../figure.ts'
import { rssMb } from '../process-stat.ts'
import type { LoadPlan, LoadResult } from '../stage.ts'
import { type Scenario, warmUp } from './scenario.ts'

const STREAMS = 1000
const TOKENS_A_SECOND = 20
/** One connection every 5 ms: a busy event loop accepts one per turn. */
const RAMP_MS = 5000
const SETTLE_MS = 10_000
const SAMPLE_MS = 250
/** When the delay exceeds the floor's by more than this, the streams are open, but the server does not keep up. */
const HELD_WITHIN_MS = 1000

/** 1,000 streams at 20 tokens per second on one core: none fails, and memory stays bounded and is given back. */
export const streams: Scenario = {
  name: 'streams',
  async run(stage, options) {
    // Never less: slow accepts, and memory that grows with the length of an answer, show only after a while.
    const seconds = Math.max(options.seconds ?? 0, 30)
    const plan: LoadPlan = {
      parallel: STREAMS,
      runs: STREAMS,
      message: `paced:${TOKENS_A_SECOND}`,
      // Long enough for all streams to be open together for the whole time.
      tokens: TOKENS_A_SECOND * (seconds + RAMP_MS / 1000),
      rampMs: RAMP_MS,
    }
    const floor = await stage.floor()
    await warmUp(stage, [floor])
    const base = await stage.load(floor, plan)
    await floor.stop()

    const server = await stage.server()
    const { pid } = server.child
    await warmUp(stage, [server])
    await delay(SETTLE_MS)
    const before = rssMb(pid)
    let peak = before
    const sampler = setInterval(() => {
      peak = Math.max(peak, rssMb(pid))
    }, SAMPLE_MS)
    const result = await stage.load(server, plan)
    clearInterval(sampler)
    await delay(SETTLE_MS)
    const after = rssMb(pid)
    await server.stop()

    const behind = p99(result) - p99(base)
    const late =
      behind <= HELD_WITHIN_MS ? [] : [`not held: p99 of the delay is ${round(behind)} ms behind the floor's`]
    return [
      figureOf({
        scenario: 'streams',
        what: `failures of ${STREAMS} streams`,
        base: `${round(p99(base))} ms`,
        server: `${round(p99(result))} ms`,
        value: result.failed,
        limit: 0,
        unit: ' failed',
        problems: [...result.problems, ...late],
        note: `${TOKENS_A_SECOND} tokens/s each for ${seconds} s; p99 of the delay; load and model used ${Math.round(result.loadCore * 100)} % of their core`,
      }),
      figureOf({
        scenario: 'streams',
        what: 'share of the core',
        base: `${Math.round(share(base))} %`,
        server: `${Math.round(share(result))} %`,
        value: share(result),
        limit: 85,
        unit: ' %',
        note: 'all threads, from the first request to the end of the last stream',
      }),
      figureOf({
        scenario: 'streams',
        what: 'resident memory, peak',
        base: `${round(before)} MB`,
        server: `${round(peak)} MB`,
        value: peak,
        limit: 350,
        unit: ' MB',
        note: `sampled every ${SAMPLE_MS} ms; before: warmed up at full speed, then ${SETTLE_MS / 1000} s of rest`,
      }),
      figureOf({
        scenario: 'streams',
        what: 'memory kept afterwards',
        base: `${round(before)} MB`,
        server: `${round(after)} MB`,
        value: (after / before - 1) * 100,
        limit: 20,
        unit: ' %',
        note: `resident, ${SETTLE_MS / 1000} s after the last stream against before the first; the server collects by itself 8 s after its last run`,
      }),
    ]
  },
}

const p99 = (result: LoadResult): number => result.delayMs?.p99 ?? Number.NaN

/** Percent of a core that all threads of the target used together. */
const share = ({ cpuMsPerRun, runs, seconds }: LoadResult): number => (cpuMsPerRun * runs) / seconds / 10
