import type { LogEvent } from '../../../data/live-types.ts'

/** Nobody wants to watch a wait, and nobody sees what changes faster than the screen. */
const LONGEST_MS = 1_000
const SHORTEST_MS = 16

/** How long to stay at an event before the next one, as it was, within limits. */
export function nextPause(events: readonly LogEvent[], at: number, speed: number): number {
  const [from, to] = [events[at - 1]?.at ?? null, events[at]?.at ?? null]
  const real = from === null || to === null ? 0 : to - from
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, real / speed))
}
