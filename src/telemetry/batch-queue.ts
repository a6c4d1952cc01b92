// Collects what is to be sent and sends it in batches, one at a time. A receiver that is slow or dead costs what does not fit, never
// memory or time of whoever adds: that is counted.

import { type Clock, sleep } from '../domain/clock.ts'

export interface BatchQueue<T> {
  /** Never waits, never throws. What finds no room is dropped. */
  add(item: T): void
  /** Sends what is there, for at most `ms`. What is left then is dropped, and so is everything added later. */
  close(ms: number): Promise<void>
  readonly counts: QueueCounts
}

export interface QueueCounts {
  sent: number
  /** The queue was full, or closed. */
  full: number
  /** The receiver refused it, or did not take it in time. */
  failed: number
}

interface QueueOptions<T> {
  /** Resolves with whether the receiver took it. Never rejects. */
  send(items: readonly T[]): Promise<boolean>
  clock: Clock
  /** Most items that wait. */
  room?: number
  batch?: number
  everyMs?: number
}

export function createBatchQueue<T>(options: QueueOptions<T>): BatchQueue<T> {
  const { send, clock, room = 2_048, batch = 512, everyMs = 2_000 } = options
  const counts: QueueCounts = { sent: 0, full: 0, failed: 0 }
  let waiting: T[] = []
  let sending: Promise<void> | null = null
  let cancel: (() => void) | null = null
  let isClosed = false

  function schedule(): void {
    if (sending !== null || waiting.length === 0) return
    if (waiting.length >= batch) begin()
    else cancel ??= clock.after(everyMs, begin)
  }

  function begin(): void {
    cancel?.()
    cancel = null
    if (sending !== null || waiting.length === 0) return
    const items = waiting.slice(0, batch)
    waiting = waiting.slice(batch)
    sending = send(items).then((isTaken) => {
      if (isTaken) counts.sent += items.length
      else counts.failed += items.length
      sending = null
      schedule()
    })
  }

  async function sendAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (sending !== null || waiting.length > 0)) {
      begin()
      await sending
    }
  }

  return {
    counts,
    add(item) {
      if (isClosed || waiting.length >= room) {
        counts.full += 1
        return
      }
      waiting.push(item)
      schedule()
    },
    async close(ms) {
      if (isClosed) return
      isClosed = true
      const over = new AbortController()
      await Promise.race([sendAll(over.signal), sleep(clock, ms, over.signal)])
      over.abort()
      cancel?.()
      counts.full += waiting.length
      waiting = []
    },
  }
}
