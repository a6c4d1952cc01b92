// Tells the replicas of a store that shared records have changed, for those that keep a copy of them in memory.

import { sleep } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'
import { type CopyDeps, createSharedCopy, type SharedCopy, untilHeard } from './shared-copy.ts'

export interface SharedChanges {
  /** Call it after the change and before anybody hears that it is done: every replica looks within half a second from then on. */
  tell(topic: string): Promise<void>
  /**
   * Calls `look` after each change of the topic, whoever made it, and once at the beginning. It also calls it every half minute: whoever
   * made a change may have died before it told anybody. The returned function ends it.
   */
  watch(topic: string, look: () => void): () => void
  /** Like `watch`, for a copy of records that must not outlive them. `read` reads them all. */
  keep(topic: string, read: () => Promise<void>): SharedCopy
  /** Call it after `tell`: resolves when no process uses a copy that is older, after five seconds at most. */
  heard(topic: string): Promise<void>
  /** Looks at once, for whoever has a faster way to learn of changes. */
  look(): void
  close(): Promise<void>
}

interface ChangesDeps extends CopyDeps {
  logger: Logger
}

const KIND = 'changed'
const POLL_MS = 500
const KEPT_MS = 3_600_000
const LOOK_ANYWAY_MS = 30_000

/** One small query per replica and half second, while anybody watches. */
export function createSharedChanges({ shared, owner, clock, logger }: ChangesDeps): SharedChanges {
  const watchers = new Map<string, Set<() => void>>()
  const copies = new Map<string, ReturnType<typeof createSharedCopy>>()
  const closing = new AbortController()
  /** The version of each topic that everybody has been told of. */
  const seen = new Map<string, number>()
  let lookedAt = clock.mono()
  let running: Promise<void> | null = null
  let isTroubled = false
  let resume = new AbortController()

  async function poll(): Promise<void> {
    const since = clock.mono()
    const changed = new Set<string>()
    const latest = new Map<string, number>()
    for (const { key, version } of await shared.list(KIND)) {
      latest.set(key, version)
      if (seen.get(key) !== version) changed.add(key)
      seen.set(key, version)
    }
    const isDue = clock.mono() - lookedAt >= LOOK_ANYWAY_MS
    if (isDue) {
      lookedAt = clock.mono()
      for (const topic of watchers.keys()) changed.add(topic)
    }
    for (const topic of changed) for (const look of [...(watchers.get(topic) ?? [])]) look()
    const caughtUp = [...copies].map(async ([topic, copy]) => {
      if (isDue) await copy.refresh()
      await copy.catchUp(latest.get(topic) ?? 0, since)
    })
    for (const result of await Promise.allSettled(caughtUp)) if (result.status === 'rejected') throw result.reason
  }

  async function run(): Promise<void> {
    while (watchers.size + copies.size > 0 && !closing.signal.aborted) {
      try {
        await poll()
        isTroubled = false
      } catch (error) {
        if (!isTroubled) logger.warn('the changes of other replicas cannot be read just now', { error })
        isTroubled = true
      }
      await sleep(clock, POLL_MS, AbortSignal.any([closing.signal, resume.signal]))
    }
    running = null
  }

  function start(): void {
    if (!closing.signal.aborted) running ??= run()
  }

  function look(): void {
    resume.abort()
    resume = new AbortController()
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
      start()
      return () => {
        looks.delete(look)
        if (looks.size === 0 && watchers.get(topic) === looks) watchers.delete(topic)
      }
    },
    keep(topic, read) {
      const copy = createSharedCopy({ shared, owner, clock }, topic, read)
      copies.set(topic, copy)
      start()
      return copy
    },
    async heard(topic) {
      const change = (await shared.get(KIND, topic))?.version ?? 0
      // So that nobody waits for this process itself.
      look()
      await untilHeard({ shared, clock }, topic, change)
    },
    look,
    async close() {
      closing.abort()
      await running
      await Promise.all([...copies.values()].map((copy) => copy.close()))
    },
  }
}
