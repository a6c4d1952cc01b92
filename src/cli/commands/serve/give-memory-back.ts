import type { Clock } from '../../../domain/clock.ts'

export interface MemoryDeps {
  clock: Clock
  /** How many runs execute, how many there were so far, and how many connections there are. */
  traffic: () => { activeRuns: number; runsStarted: number; connections: number }
  residentBytes: () => number
  /** Collects all garbage and returns the pages to the system. Blocks. */
  collect: () => void
}

const LOOK_MS = 1_000
/** What a start has compiled and parsed is of no use later, so that it may go soon. */
const QUIET_AFTER_START = 2
/** A collection also takes what V8 has learned about objects that do not live just now; a pause in the traffic is not worth that. */
const QUIET_AFTER_RUNS = 8
/** Nor is a little memory: this much more than the last time left. */
const WORTH = 4 / 3

/**
 * After a burst V8 keeps the pages it has grown to, and sees to them only when there is more to do. So once no run has executed
 * and no reader has left for some seconds everything is collected, once, if clearly more is resident than the last time left. That blocks the loop for
 * about 0.1 s, at a moment when nobody is answered. The returned function ends it.
 */
export function giveMemoryBack({ clock, traffic, residentBytes, collect }: MemoryDeps): () => void {
  let left: number | null = null
  let quiet = 0
  let seen = 0
  let connected = 0
  let cancel = () => {}

  function look(): void {
    const { activeRuns, runsStarted, connections } = traffic()
    // Readers that stall outlive the run they read, and what was held for them is garbage only when they have gone.
    const isQuiet = activeRuns === 0 && runsStarted === seen && connections >= connected
    seen = runsStarted
    connected = connections
    quiet = isQuiet ? quiet + 1 : 0
    const isDue =
      left === null ? quiet >= QUIET_AFTER_START : quiet === QUIET_AFTER_RUNS && residentBytes() > left * WORTH
    if (isDue) {
      collect()
      left = residentBytes()
    }
    cancel = clock.after(LOOK_MS, look)
  }

  cancel = clock.after(LOOK_MS, look)
  return () => cancel()
}
