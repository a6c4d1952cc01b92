import type { ServerResponse } from 'node:http'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Principal } from '../route.ts'

/** Limits for one user. Both methods throw `rate_limited`. */
export interface UsageLimits {
  takePost(principal: Principal): void
  /** Counts the stream until the response closes. */
  takeStream(principal: Principal, response: ServerResponse): void
}

/** Null: no limit. */
export function createUsageLimits(options: {
  postsPerMinute: number | null
  streams: number | null
  clock: Clock
}): UsageLimits {
  const { postsPerMinute, streams, clock } = options
  const posts = postsPerMinute === null ? null : createWindowCounter({ limit: postsPerMinute, windowMs: 60_000, clock })
  const openStreams = new Map<string, number>()

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
      if (open >= streams) throw limited(`more than ${streams} open streams`, 5)
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
