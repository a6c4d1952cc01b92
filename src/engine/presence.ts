// Who reads. A run that was started by a reader stops when the last reader of its session has been gone for the grace time; a
// dropped connection alone decides nothing.

import type { Clock } from '../domain/clock.ts'

export interface Presence {
  /** A reader has come; call what is returned when it has gone. */
  arrive(sessionId: string): () => void
  /** Asks for `left` to be called once when nobody has read the session for the grace time. */
  attend(sessionId: string, left: () => void): () => void
  readonly readers: number
}

/** The time a door has to begin reading the run that it started. */
const ARRIVAL_MS = 5_000

/** `graceMs` null: never. */
export function createPresence(clock: Clock, graceMs: number | null): Presence {
  interface Attended {
    readers: number
    waits: Set<() => void>
    stopTimer: (() => void) | null
  }
  const sessions = new Map<string, Attended>()
  let readers = 0

  function of(sessionId: string): Attended {
    const attended = sessions.get(sessionId) ?? { readers: 0, waits: new Set(), stopTimer: null }
    sessions.set(sessionId, attended)
    return attended
  }

  function tidy(sessionId: string, attended: Attended): void {
    if (attended.readers > 0 || attended.waits.size > 0) return
    attended.stopTimer?.()
    sessions.delete(sessionId)
  }

  function startTimer(attended: Attended, ms: number): void {
    attended.stopTimer?.()
    attended.stopTimer = clock.after(ms, () => {
      attended.stopTimer = null
      for (const left of attended.waits) left()
    })
  }

  return {
    arrive(sessionId) {
      const attended = of(sessionId)
      attended.readers += 1
      readers += 1
      attended.stopTimer?.()
      attended.stopTimer = null
      let gone = false
      return () => {
        if (gone) return
        gone = true
        attended.readers -= 1
        readers -= 1
        if (attended.readers === 0 && attended.waits.size > 0 && graceMs !== null) startTimer(attended, graceMs)
        tidy(sessionId, attended)
      }
    },
    attend(sessionId, left) {
      if (graceMs === null) return () => {}
      const attended = of(sessionId)
      attended.waits.add(left)
      if (attended.readers === 0) startTimer(attended, Math.max(graceMs, ARRIVAL_MS))
      return () => {
        attended.waits.delete(left)
        tidy(sessionId, attended)
      }
    },
    get readers() {
      return readers
    },
  }
}
