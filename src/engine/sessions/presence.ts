// Counts the readers of sessions and runs. A run that a reader started stops when nobody has read it for the grace time. A dropped
// connection alone decides nothing.

import type { Clock } from '../../domain/clock.ts'
import { PassingMap } from '../../domain/passing.ts'

/**
 * Knows who reads what, in all processes that share a store. Calls return at once. Other processes may hear of a reader up to a
 * second later. The readers of a process that dies are gone with it.
 */
export interface Presence {
  /**
   * A reader has arrived. Call the returned function when it leaves. With `runId` it reads only that run, so a reader whose run
   * is queued does not keep the run before it alive. Without `runId` it reads every run of the session.
   */
  arrive(sessionId: string, runId?: string): () => void
  /**
   * Calls `onAbandoned` when nobody has read the run for `graceMs`: perhaps a little later, never earlier, and never while
   * somebody reads. Call the returned function when the run has ended.
   */
  attend(run: { sessionId: string; runId: string; graceMs: number }, onAbandoned: () => void): () => void
  /**
   * Ends the grace time of a run that is attended to here: it is abandoned as soon as it is certain that all its readers have left.
   * A run that nobody has read yet keeps its time, and so does one whose readers leave later than a second from now.
   */
  hurry(sessionId: string, runId: string): void
  /** How many readers this process has. */
  readonly readers: number
}

/** How long a door has to begin reading the run that it started. */
export const ARRIVAL_MS = 5_000
/** A page that stops a run and sends the next message at once: the end of its connection may be seen after the message. */
export const LATE_LEAVE_MS = 1_000

interface Attended {
  graceMs: number
  onAbandoned: () => void
  stopTimer: (() => void) | null
  wasRead: boolean
  /** Until then, the last reader that leaves ends the run at once. */
  hurriedUntil: number
}

interface SessionPresence {
  /** How many read each run. Readers of the whole session are under null. */
  readers: Map<string | null, number>
  runs: Map<string, Attended>
}

/** Counts a reader, and no more than once that it leaves. */
export function countedOnce(count: (change: 1 | -1) => void): () => void {
  count(1)
  let hasLeft = false
  return () => {
    if (!hasLeft) count(-1)
    hasLeft = true
  }
}

/** Knows the readers of this process alone. */
export function createLocalPresence(clock: Pick<Clock, 'after' | 'mono'>): Presence {
  const sessions = new PassingMap<string, SessionPresence>()
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
      if (isRead(here, runId)) {
        run.wasRead = true
        stopTimer(run)
      } else startTimer(run, clock.mono() < run.hurriedUntil ? 0 : run.graceMs)
    }
    tidy(sessionId)
  }

  const isRead = (here: SessionPresence['readers'], runId: string): boolean => here.has(runId) || here.has(null)

  function startTimer(run: Attended, ms: number): void {
    stopTimer(run)
    if (ms === Number.POSITIVE_INFINITY) return
    run.stopTimer = clock.after(ms, () => {
      run.stopTimer = null
      run.onAbandoned()
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
      return countedOnce((change) => count(sessionId, runId ?? null, change))
    },
    attend({ sessionId, runId, graceMs }, onAbandoned) {
      const { readers: here, runs } = of(sessionId)
      const wasRead = isRead(here, runId)
      const run: Attended = { graceMs, onAbandoned, stopTimer: null, wasRead, hurriedUntil: 0 }
      runs.set(runId, run)
      if (!wasRead) startTimer(run, Math.max(graceMs, ARRIVAL_MS))
      return () => {
        stopTimer(run)
        if (runs.get(runId) === run) runs.delete(runId)
        tidy(sessionId)
      }
    },
    hurry(sessionId, runId) {
      const presence = sessions.get(sessionId)
      const run = presence?.runs.get(runId)
      if (presence === undefined || run?.wasRead !== true) return
      run.hurriedUntil = clock.mono() + LATE_LEAVE_MS
      if (!isRead(presence.readers, runId)) startTimer(run, 0)
    },
    get readers() {
      return readers
    },
  }
}
