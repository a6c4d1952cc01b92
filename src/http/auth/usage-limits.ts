import type { ServerResponse } from 'node:http'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Principal } from '../route.ts'
import { createWindowCounter } from './window-counter.ts'

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
