// Tells the replicas of a store that shared records have changed, for those that keep a copy of them in memory.

import { type Clock, sleep } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'
import type { Shared } from '../store/ports/shared.ts'

export interface SharedChanges {
  /** Call it after the change and before anybody hears that it is done: every replica looks within half a second from then on. */
  tell(topic: string): Promise<void>
  /**
   * Calls `look` after each change of the topic, whoever made it, and once at the beginning. It also calls it every half minute: whoever
   * made a change may have died before it told anybody. The returned function ends it.
   */
  watch(topic: string, look: () => void): () => void
  /** Looks at once, for whoever has a faster way to learn of changes. */
  look(): void
  close(): void
}

interface ChangesDeps {
  shared: Pick<Shared, 'list' | 'put'>
  clock: Clock
  logger: Logger
}

const KIND = 'changed'
const POLL_MS = 500
const KEPT_MS = 3_600_000
const LOOK_ANYWAY_MS = 30_000

/** One small query per replica and half second, while anybody watches. */
export function createSharedChanges({ shared, clock, logger }: ChangesDeps): SharedChanges {
  const watchers = new Map<string, Set<() => void>>()
  const closing = new AbortController()
  /** The version of each topic that everybody has been told of. */
  const seen = new Map<string, number>()
  let lookedAt = clock.mono()
  let isRunning = false
  let isTroubled = false
  let resume = new AbortController()

  async function poll(): Promise<void> {
    const changed = new Set<string>()
    for (const { key, version } of await shared.list(KIND)) {
      if (seen.get(key) !== version) changed.add(key)
      seen.set(key, version)
    }
    if (clock.mono() - lookedAt >= LOOK_ANYWAY_MS) {
      lookedAt = clock.mono()
      for (const topic of watchers.keys()) changed.add(topic)
    }
    for (const topic of changed) for (const look of [...(watchers.get(topic) ?? [])]) look()
  }

  async function run(): Promise<void> {
    isRunning = true
    while (watchers.size > 0 && !closing.signal.aborted) {
      try {
        await poll()
        isTroubled = false
      } catch (error) {
        if (!isTroubled) logger.warn('the changes of other replicas cannot be read just now', { error })
        isTroubled = true
      }
      await sleep(clock, POLL_MS, AbortSignal.any([closing.signal, resume.signal]))
    }
    isRunning = false
  }

  return {
    async tell(topic) {
      // Everybody has looked long before it is over.
      await shared.put({ kind: KIND, key: topic, value: '', version: null, expiresAt: clock.now() + KEPT_MS })
    },
    watch(topic, look) {
      const looks = watchers.get(topic) ?? new Set()
      looks.add(look)
      watchers.set(topic, looks)
      // What was told before this watcher came is news to it.
      seen.delete(topic)
      if (!isRunning && !closing.signal.aborted) void run()
      return () => {
        looks.delete(look)
        if (looks.size === 0 && watchers.get(topic) === looks) watchers.delete(topic)
      }
    },
    look() {
      resume.abort()
      resume = new AbortController()
    },
    close: () => closing.abort(),
  }
}
