// All open streams of a server. One timer checks them; it runs only while there are any.

import type { ServerResponse } from 'node:http'
import type { Clock } from '../../domain/clock.ts'

export interface OpenStream {
  /** Called about once a second with the clock's monotonic time. */
  tick(now: number): void
  /** Ends the stream properly, because the server stops. */
  end(): void
}

export interface OpenStreams {
  add(stream: OpenStream): void
  remove(stream: OpenStream): void
  endAll(): void
  readonly size: number
}

export const TICK_MS = 1_000
export const STALL_MS = 30_000

export function createOpenStreams(clock: Clock): OpenStreams {
  const streams = new Set<OpenStream>()
  let cancel: (() => void) | null = null

  function tick(): void {
    cancel = null
    const now = clock.mono()
    for (const stream of streams) stream.tick(now)
    arm()
  }

  function arm(): void {
    if (cancel === null && streams.size > 0) cancel = clock.after(TICK_MS, tick)
  }

  return {
    add(stream) {
      streams.add(stream)
      arm()
    },
    remove(stream) {
      streams.delete(stream)
      if (streams.size > 0) return
      cancel?.()
      cancel = null
    },
    endAll() {
      for (const stream of [...streams]) stream.end()
    },
    get size() {
      return streams.size
    },
  }
}

/** Drops the connection if an answer that was written in one piece has not been sent after 30 s. */
export function dropUnlessSent(response: ServerResponse, streams: OpenStreams, clock: Clock): void {
  const since = clock.mono()
  const stuck: OpenStream = {
    tick(now) {
      if (now - since >= STALL_MS) response.req.socket.destroy()
    },
    end() {},
  }
  streams.add(stuck)
  response.once('close', () => streams.remove(stuck))
}
