import type { Clock } from '../../domain/clock.ts'

interface Cached<T> {
  /** Loads the value again if it is too old, but waits at most `waitMs` for it. Then returns the last value, if there is one. */
  read(waitMs: number): Promise<T | undefined>
}

/** Never runs two loads at once. After a failed load, the last value stays. */
export function createCached<T>(load: () => Promise<T>, options: { clock: Clock; maxAgeMs: number }): Cached<T> {
  const { clock, maxAgeMs } = options
  let value: T | undefined
  let loadedAt = Number.NEGATIVE_INFINITY
  let loading: Promise<void> | null = null

  async function reload(): Promise<void> {
    try {
      value = await load()
    } catch {
      // The loader reports its own failures.
    }
    loadedAt = clock.mono()
    loading = null
  }

  return {
    async read(waitMs) {
      if (clock.mono() - loadedAt < maxAgeMs) return value
      loading ??= reload()
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const cancel = clock.after(waitMs, resolve)
      await Promise.race([loading, late])
      cancel()
      return value
    },
  }
}
