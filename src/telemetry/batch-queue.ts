// Collects what is to be sent and sends it in batches, one at a time. A receiver that is slow or dead costs what does not fit, never
// memory or time of whoever adds: that is counted.

import { type Clock, sleep } from '../domain/clock.ts'

export interface BatchQueue<T> {
  /** Never waits, never throws. What does not fit is dropped. */
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
  /** How large an item is, in characters. */
  sizeOf(item: T): number
  limits: typeof queueLimits
}

export const queueLimits = {
  /** Most items that wait. */
  waiting: 2_048,
  batch: 512,
  /** Most characters that wait. */
  waitingSize: 32_000_000,
  /** Most characters of a batch, unless one item has more. */
  batchSize: 8_000_000,
  everyMs: 2_000,
}

export function createBatchQueue<T>(options: QueueOptions<T>): BatchQueue<T> {
  const { send, clock, sizeOf, limits } = options
  const counts: QueueCounts = { sent: 0, full: 0, failed: 0 }
  let waiting: T[] = []
  let waitingSize = 0
  let sending: Promise<void> | null = null
  let cancel: (() => void) | null = null
  let isClosed = false

  function schedule(): void {
    if (sending !== null || waiting.length === 0) return
    if (waiting.length >= limits.batch || waitingSize >= limits.batchSize) begin()
    else cancel ??= clock.after(limits.everyMs, begin)
  }

  function begin(): void {
    cancel?.()
    cancel = null
    if (sending !== null || waiting.length === 0) return
    const items = takeBatch()
    sending = send(items).then((isTaken) => {
      if (isTaken) counts.sent += items.length
      else counts.failed += items.length
      sending = null
      schedule()
    })
  }

  function takeBatch(): T[] {
    let n = 0
    let size = 0
    for (const item of waiting) {
      const more = sizeOf(item)
      if (n === limits.batch || (n > 0 && size + more > limits.batchSize)) break
      n += 1
      size += more
    }
    waitingSize -= size
    return waiting.splice(0, n)
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
      const size = sizeOf(item)
      if (isClosed || waiting.length >= limits.waiting || waitingSize + size > limits.waitingSize) {
        counts.full += 1
        return
      }
      waiting.push(item)
      waitingSize += size
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
