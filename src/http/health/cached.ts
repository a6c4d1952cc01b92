import type { Clock } from '../../domain/clock.ts'

export interface Cached<T> {
  /** The value, loaded anew when it is too old. Waits at most `waitMs` for that, then gives the last one, if there is any. */
  read(waitMs: number): Promise<T | undefined>
}

/** Never loads twice at once. A load that fails leaves the last value in place. */
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
