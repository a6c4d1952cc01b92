import type { Clock } from '../../domain/clock.ts'

/** Counts events per key in windows of fixed length, for limits such as "10 per minute". Keeps a bounded number of keys. */
interface WindowCounter {
  hit(key: string): void
  /** Seconds until the key may continue, or null while it is within the limit. */
  waitFor(key: string): number | null
}

export function createWindowCounter(options: {
  limit: number
  windowMs: number
  clock: Clock
  maxKeys?: number
}): WindowCounter {
  const { limit, windowMs, clock, maxKeys = 10_000 } = options
  // A Map, because keys come from clients. It keeps the order in which windows began, so the first one is the oldest.
  const windows = new Map<string, { count: number; endsAt: number }>()

  function current(key: string) {
    const window = windows.get(key)
    if (window === undefined || clock.mono() < window.endsAt) return window
    windows.delete(key)
    return undefined
  }

  return {
    hit(key) {
      const window = current(key)
      if (window !== undefined) {
        window.count += 1
        return
      }
      if (windows.size >= maxKeys) {
        const oldest = windows.keys().next()
        if (!oldest.done) windows.delete(oldest.value)
      }
      windows.set(key, { count: 1, endsAt: clock.mono() + windowMs })
    },
    waitFor(key) {
      const window = current(key)
      if (window === undefined || window.count < limit) return null
      return Math.max(1, Math.ceil((window.endsAt - clock.mono()) / 1000))
    },
  }
}
