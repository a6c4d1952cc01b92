import type { ServerResponse } from 'node:http'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { sha256 } from '../../json/digest.ts'
import type { SharedCounts } from '../../replicas/shared-counts.ts'
import type { Principal } from '../route.ts'
import type { HttpLimits } from '../server/limits.ts'

/** Limits for one user. Both methods throw `rate_limited`. */
export interface UsageLimits {
  takePost(principal: Principal): void
  /** Counts the stream until the response closes. */
  takeStream(principal: Principal, response: ServerResponse): void
}

export function createUsageLimits(
  { postsPerMinute, streamsPerUser: streams }: Pick<HttpLimits, 'postsPerMinute' | 'streamsPerUser'>,
  clock: Clock,
  counts: SharedCounts,
): UsageLimits {
  const posts =
    postsPerMinute === null
      ? null
      : createWindowCounter({ kind: 'posts', limit: postsPerMinute, windowMs: 60_000, clock, counts })
  const openStreams = new Map<string, number>()
  if (streams !== null) counts.sayStreams(openStreams)

  return {
    takePost({ owner }) {
      if (posts === null) return
      const wait = posts.waitFor(owner)
      if (wait !== null) throw limited(`more than ${postsPerMinute} posts a minute`, wait)
      posts.hit(owner)
    },
    takeStream({ owner }, response) {
      if (streams === null) return
      const open = openStreams.get(owner) ?? 0
      if (open + counts.streamsElsewhere(owner) >= streams) throw limited(`more than ${streams} open streams`, 5)
      openStreams.set(owner, open + 1)
      response.once('close', () => {
        const left = (openStreams.get(owner) ?? 1) - 1
        if (left === 0) openStreams.delete(owner)
        else openStreams.set(owner, left)
      })
    },
  }
}

function limited(what: string, seconds: number): ServerError {
  return new ServerError('rate_limited', `This user sent or opened ${what}; try again in ${seconds} s.`, {
    details: { retry_after_seconds: seconds },
  })
}

interface Window {
  /** What all processes have counted, as far as it is known here. */
  count: number
  /** What was counted here and not added yet. */
  fresh: number
  /** Monotonic ms. */
  endsAt: number
}

/** How often the counts of a process are added to those of the others. */
const ADD_EVERY_MS = 250

/**
 * Counts events per key in windows of fixed length, for limits such as "10 per minute". Keeps a bounded number of keys.
 * The limit holds for all processes on the store. No request waits for it: what other processes have counted is
 * known here a quarter of a second later, so that a key may exceed the limit by what all of them take in that time. While the store is
 * away, each process counts alone.
 */
export function createWindowCounter(options: {
  /** Names the counter. The same at all processes. */
  kind: string
  limit: number
  windowMs: number
  clock: Clock
  maxKeys?: number
  counts: Pick<SharedCounts, 'add'>
}) {
  const { kind, limit, windowMs, clock, maxKeys = 10_000, counts } = options
  const { add } = counts
  // A Map, because keys come from clients. It keeps the order in which windows began, so the first one is the oldest.
  const windows = new Map<string, Window>()
  let isAdding = false

  function current(key: string): Window | undefined {
    const window = windows.get(key)
    if (window === undefined || clock.mono() < window.endsAt) return window
    windows.delete(key)
    return undefined
  }

  async function addAll(addToOthers: NonNullable<typeof add>): Promise<void> {
    const fresh = [...windows].filter(([, window]) => window.fresh > 0)
    const added = fresh.map(([key, window]) => ({ key: shortKey(key), n: window.fresh }))
    for (const [, window] of fresh) {
      window.count += window.fresh
      window.fresh = 0
    }
    const sums = await addToOthers(kind, added, windowMs)
    for (const [i, [, window]] of fresh.entries()) {
      const sum = sums[i]
      if (sum === undefined) continue
      window.count = sum.count
      // This clock may have been set since, but no window is longer than this.
      window.endsAt = clock.mono() + Math.min(Math.max(sum.endsAt - clock.now(), 0), windowMs)
    }
  }

  function addSoon(): void {
    if (add === null || isAdding) return
    isAdding = true
    clock.after(ADD_EVERY_MS, () => {
      // What was not added is not lost here: the window goes on with it.
      void addAll(add)
        .catch(() => {})
        .finally(() => {
          isAdding = false
          if ([...windows.values()].some(({ fresh }) => fresh > 0)) addSoon()
        })
    })
  }

  return {
    hit(key: string) {
      const window = current(key)
      if (window !== undefined) {
        window.fresh += 1
        return addSoon()
      }
      if (windows.size >= maxKeys) {
        const oldest = windows.keys().next()
        if (!oldest.done) windows.delete(oldest.value)
      }
      windows.set(key, { count: 0, fresh: 1, endsAt: clock.mono() + windowMs })
      addSoon()
    },
    /** Seconds until the key may continue, or null while it is within the limit. */
    waitFor(key: string): number | null {
      const window = current(key)
      if (window === undefined || window.count + window.fresh < limit) return null
      return Math.max(1, Math.ceil((window.endsAt - clock.mono()) / 1000))
    },
  }
}

const MOST_KEY_CHARS = 200
const shortKey = (key: string): string => (key.length > MOST_KEY_CHARS ? sha256(key) : key)
