import type { Clock } from '../../../domain/clock.ts'

const MINUTE_MS = 60_000
/** Keys that are remembered. While there are more of them in one minute, nothing more is let through. */
const REMEMBERED = 1_000

/** True for a key that was not let through within the last minute. */
export function createOncePerMinute(clock: Pick<Clock, 'mono'>): (key: string) => boolean {
  const last = new Map<string, number>()
  return (key) => {
    const now = clock.mono()
    for (const [one, at] of last) {
      // In the order of time, so the rest is newer.
      if (now - at < MINUTE_MS) break
      last.delete(one)
    }
    if (last.has(key) || last.size >= REMEMBERED) return false
    last.set(key, now)
    return true
  }
}
