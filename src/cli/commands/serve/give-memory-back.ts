import type { Clock } from '../../../domain/clock.ts'

interface MemoryDeps {
  clock: Clock
  /** Active runs, runs so far, and open connections. */
  traffic: () => { activeRuns: number; runsStarted: number; connections: number }
  residentBytes: () => number
  /** Collects all garbage and returns memory to the system. Blocks. */
  collect: () => void
}

const LOOK_MS = 1_000
/** What a start compiled and parsed is not needed later, so the first collection comes soon. */
const QUIET_AFTER_START = 2
/** A collection also drops what V8 has learned about objects. A short pause in the traffic is not worth that. */
const QUIET_AFTER_RUNS = 8
/** Neither is a little memory: collect only if this much more is in use than after the last time. */
const WORTH = 4 / 3

/**
 * After a burst, V8 keeps its memory until there is more work. So this collects everything once, when no run was active and no reader
 * left for some seconds, and clearly more memory is in use than after the last time. That blocks for about 0.1 s, while nobody waits
 * for an answer. The returned function stops it.
 */
export function giveMemoryBack({ clock, traffic, residentBytes, collect }: MemoryDeps): () => void {
  let left: number | null = null
  let quiet = 0
  let seen = 0
  let connected = 0
  let cancel = () => {}

  function look(): void {
    const { activeRuns, runsStarted, connections } = traffic()
    // A stalled reader outlives its run, and its memory is garbage only after it has left.
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
