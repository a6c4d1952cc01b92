// A run of a replica that died goes on elsewhere within 15 seconds, one that was given back within a few. Looked at while the trial
// runs: time counts only while the database answers and a replica is there to go on with it.

import type { History } from '../history.ts'
import type { Kernel } from '../kernel.ts'
import type { Cluster } from './cluster.ts'

const TAKEOVER_MS = 15_000
const HANDOVER_MS = 4_000
const STOPPING_MS = 3_000
/** A call of the store that fails is made again at the next round. */
const RETRIES_MS = 12_000

/** Its program has a lease too, and whoever finds it held looks again after a while. */
const PROGRAM_MS = 18_000

export function createTakeoverWatch(
  kernel: Kernel,
  history: History,
  cluster: Cluster,
  { callsFail, isHosted }: { callsFail: boolean; isHosted: boolean },
) {
  const slack = (callsFail ? RETRIES_MS : 0) + (isHosted ? PROGRAM_MS : 0)
  /** Since when each run has had an owner that is gone. */
  const since = new Map<string, { at: number; limitMs: number }>()

  /** Whoever stops while the store is in trouble may not be able to give its runs back. */
  const hadTrouble = (stoppedAt: number): boolean =>
    history.troubles.some(({ from, to }) => from < stoppedAt && to > stoppedAt - STOPPING_MS)

  return {
    async look(): Promise<void> {
      const isSound = cluster.isSound()
      const found = new Set<string>()
      for (const { runId, life } of await cluster.owners()) {
        if (life !== null && life.end === null) continue
        const isGivenBack = life === null || (life.end === 'restarted' && !hadTrouble(life.to ?? 0))
        const key = `${runId} ${life?.number ?? 'nobody'}`
        found.add(key)
        const limitMs = (isGivenBack ? HANDOVER_MS : TAKEOVER_MS) + slack
        const known = since.get(key)
        if (known === undefined || !isSound) {
          since.set(key, { at: Math.max(kernel.time - (isSound ? 500 : 0), life?.to ?? 0), limitMs })
          continue
        }
        if (kernel.time - known.at <= known.limitMs) continue
        const whose = life === null ? 'was given back' : `belongs to life ${life.number}, which ended`
        const message = `run ${runId} ${whose}, and nobody went on with it for ${(kernel.time - known.at).toFixed(0)} ms`
        history.findings.push({ checker: 'takeover', message })
        since.set(key, { at: Number.POSITIVE_INFINITY, limitMs })
      }
      for (const key of since.keys()) if (!found.has(key)) since.delete(key)
    },
  }
}
