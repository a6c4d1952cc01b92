// Formula against simulator. How far they may be apart is part of what bench/SCALE.md promises.

import type { Prediction, Task } from '../../../bench/scale/cost-model.ts'
import type { Simulated } from './simulate.ts'

export interface Compared {
  name: string
  predicted: number
  simulated: number
  /** How far they may be apart, in words. */
  allowed: string
  isClose: boolean
}

/** Replicas ask about everything that they heard of together, which the formula leaves out. So it may be far too high here. */
const SAFE: readonly Task[] = ['looks at ended runs', 'readers elsewhere']

export function compare(predicted: Prediction, simulated: Simulated): Compared[] {
  const { perSecond, delaysMs, takeoversMs } = simulated
  const row = (name: string, said: number, happened: number, within: number): Compared => ({
    name,
    predicted: said,
    simulated: happened,
    allowed: `± ${within * 100} %`,
    isClose: Math.abs(said - happened) <= within * happened,
  })
  const tasks = Object.entries(predicted.databaseCores).map(([task, cores]) => {
    const compared = row(`database cores: ${task}`, cores, perSecond.cpuMs[task as Task] / 1_000, 0.25)
    if (!SAFE.includes(task as Task)) return compared
    const isSafe = compared.predicted > compared.simulated
    return { ...compared, allowed: 'at most 25 % too low', isClose: compared.isClose || isSafe }
  })
  const busy = Object.values(perSecond.cpuMs).reduce((sum, ms) => sum + ms, 0) / 1_000
  return [
    row('tokens/s', predicted.tokensPerSecond, perSecond.tokens, 0.05),
    row('runs/s', predicted.runsPerSecond, perSecond.finished, 0.15),
    row('commits/s', predicted.groupsPerSecond, perSecond.groups, 0.15),
    row('NOTIFY/s', predicted.wakesPerSecond, perSecond.wakes, 0.15),
    row('WAL bytes/s', predicted.walBytesPerSecond, perSecond.walBytes, 0.1),
    ...tasks,
    row('database cores', predicted.busyCores, busy, 0.1),
    row('delay of a token, p50 ms', predicted.delayMs.p50, at(delaysMs, 0.5), 0.25),
    row('delay of a token, p99 ms', predicted.delayMs.p99, at(delaysMs, 0.99), 0.35),
    row('takeover, p50 ms', predicted.takeoverMs.p50, at(takeoversMs, 0.5), 0.15),
    // The formula says the most, so nothing may take longer.
    {
      ...row('takeover, most ms', predicted.takeoverMs.most, at(takeoversMs, 1), 0),
      allowed: 'never longer',
      isClose: at(takeoversMs, 1) <= predicted.takeoverMs.most,
    },
  ]
}

export function showComparison(rows: readonly Compared[]): string {
  const lines = rows.map(
    ({ name, predicted, simulated, allowed, isClose }) =>
      `${name.padEnd(40)}${show(predicted).padStart(14)}${show(simulated).padStart(14)}   ${allowed}${isClose ? '' : '   !'}`,
  )
  return [`${''.padEnd(40)}${'formula'.padStart(14)}${'simulator'.padStart(14)}   may differ by`, ...lines].join('\n')
}

const show = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2))

const at = (sorted: Float64Array, share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
