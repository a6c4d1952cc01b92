// Counts the readers of each run. A run that was started by a reader stops when it had no reader for the grace time; a dropped
// connection alone does not stop it.

import type { Clock } from '../../domain/clock.ts'

export interface Presence {
  /**
   * Adds a reader; the returned function removes it. With `runId` it reads that run only: someone who waits for a queued run does
   * not read the run before it. Without, it reads all runs of the session.
   */
  arrive(sessionId: string, runId?: string): () => void
  /** Calls `left` once when nobody has read the run for the grace time. The returned function stops watching. */
  attend(sessionId: string, runId: string, left: () => void): () => void
  readonly readers: number
}

/** How long a door has to begin reading the run that it started. */
const ARRIVAL_MS = 5_000

interface Attended {
  left: () => void
  stopTimer: (() => void) | null
}

interface SessionPresence {
  /** Number of readers by run; null counts those who read the whole session. */
  readers: Map<string | null, number>
  runs: Map<string, Attended>
}

/** `graceMs` null: runs never stop when their readers leave. */
export function createPresence(clock: Clock, graceMs: number | null): Presence {
  const sessions = new Map<string, SessionPresence>()
  let readers = 0

  function of(sessionId: string): SessionPresence {
    const presence = sessions.get(sessionId) ?? { readers: new Map(), runs: new Map() }
    sessions.set(sessionId, presence)
    return presence
  }

  function count(sessionId: string, target: string | null, change: 1 | -1): void {
    const { readers: here, runs } = of(sessionId)
    const now = (here.get(target) ?? 0) + change
    if (now === 0) here.delete(target)
    else here.set(target, now)
    readers += change
    for (const [runId, run] of runs) {
      if (target !== null && target !== runId) continue
      if (isRead(here, runId)) stopTimer(run)
      else if (graceMs !== null) startTimer(run, graceMs)
    }
    tidy(sessionId)
  }

  const isRead = (here: SessionPresence['readers'], runId: string): boolean => here.has(runId) || here.has(null)

  function startTimer(run: Attended, ms: number): void {
    stopTimer(run)
    run.stopTimer = clock.after(ms, () => {
      run.stopTimer = null
      run.left()
    })
  }

  function stopTimer(run: Attended): void {
    run.stopTimer?.()
    run.stopTimer = null
  }

  function tidy(sessionId: string): void {
    const presence = sessions.get(sessionId)
    if (presence?.readers.size === 0 && presence.runs.size === 0) sessions.delete(sessionId)
  }

  return {
    arrive(sessionId, runId) {
      const target = runId ?? null
      count(sessionId, target, 1)
      let gone = false
      return () => {
        if (gone) return
        gone = true
        count(sessionId, target, -1)
      }
    },
    attend(sessionId, runId, left) {
      if (graceMs === null) return () => {}
      const { readers: here, runs } = of(sessionId)
      const run: Attended = { left, stopTimer: null }
      runs.set(runId, run)
      if (!isRead(here, runId)) startTimer(run, Math.max(graceMs, ARRIVAL_MS))
      return () => {
        stopTimer(run)
        if (runs.get(runId) === run) runs.delete(runId)
        tidy(sessionId)
      }
    },
    get readers() {
      return readers
    },
  }
}
