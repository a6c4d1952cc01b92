import type { Clock } from '../../domain/clock.ts'

/** Calls `listener` once for calls that follow each other within `ms`. */
export function onceWithin(ms: number, clock: Clock, listener: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  return () => {
    const now = clock.mono()
    const repeated = now - last < ms
    last = now
    if (!repeated) listener()
  }
}
