// Which runs this process executes, in memory as in the table, also when the transaction around a change fails.

import type { RunRecord } from '../../domain/run.ts'
import type { LiveRun, LiveState } from './live-sessions.ts'
import { fenced } from './records.ts'

export interface RunOwnership {
  take(live: LiveRun): void
  giveUp(run: RunRecord): void
  /** Throws `run_fenced` unless the run executes here under this fence. */
  owned(runId: string, fence: number): LiveRun
  find(runId: string): LiveRun | undefined
}

export function createRunOwnership(state: LiveState): RunOwnership {
  return {
    take(live) {
      const { id } = live.record
      const before = state.runs.get(id)
      state.runs.set(id, live)
      state.onRollback(() => (before === undefined ? state.runs.delete(id) : state.runs.set(id, before)))
    },
    giveUp({ id, sessionId }) {
      const run = state.runs.get(id)
      const session = state.sessions.get(sessionId)
      state.runs.delete(id)
      state.sessions.delete(sessionId)
      state.onRollback(() => {
        if (run !== undefined) state.runs.set(id, run)
        if (session !== undefined) state.sessions.set(sessionId, session)
      })
    },
    owned(runId, fence) {
      const live = state.runs.get(runId)
      if (live === undefined || live.record.fence !== fence) throw fenced(runId)
      return live
    },
    find: (runId) => state.runs.get(runId),
  }
}

/** A queued run as it is when it begins. */
export const running = (run: RunRecord, leaseOwner: string, startedAt: number, firstSeq: number): RunRecord => ({
  ...run,
  status: 'running',
  startedAt,
  firstSeq,
  fence: run.fence + 1,
  leaseOwner,
})
