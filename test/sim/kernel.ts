// Simulated time. Everything that happens later is an item of one queue, ordered by (time, a random tie-break, number); after
// each item the microtasks are drained, so that a trial is a pure function of its seed and the code.

import { hashText, type Random } from './random.ts'

export interface Kernel {
  /** Simulated milliseconds since the trial began. */
  readonly time: number
  /** Counts the queue items that ran. */
  readonly items: number
  /** Runs `run` after `ms`; the returned function cancels it. */
  after(ms: number, run: () => void): () => void
  sleep(ms: number): Promise<void>
  /** Runs the queue up to this time. */
  advance(until: number): Promise<void>
  /** Something that can be seen from outside happened: it goes into the trial's hash. */
  trace(line: string): void
  /** The newest lines, oldest first. */
  readonly lines: readonly string[]
  readonly hash: string
}

export interface KernelOptions {
  /** Draws the tie-breaks: two completions that are due at the same instant swap places with the seed. */
  random: Random
  /** Proves after every item that the drain was complete. Slow; the determinism test runs with it. */
  strict?: boolean
  /** How many lines to keep. */
  keep?: number
  onLine?: (line: string) => void
}

interface Item {
  time: number
  tie: number
  number: number
  run: (() => void) | null
}

/**
 * Turns of the microtask queue without anything being scheduled or traced, after which an item counts as over. The longest
 * chain of awaits in the engine that touches no port is shorter; `strict` proves it.
 */
const QUIET_TURNS = 80

export function createKernel({ random, strict = false, keep = 200, onLine }: KernelOptions): Kernel {
  const heap: Item[] = []
  let lines: string[] = []
  let time = 0
  let items = 0
  let scheduled = 0
  let activity = 0
  let low = 0
  let high = 0x9e3779b9

  async function drain(): Promise<void> {
    let seen = activity
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      await null
      if (activity !== seen) {
        seen = activity
        quiet = 0
      }
    }
    if (!strict) return
    await new Promise((resolve) => setImmediate(resolve))
    if (activity !== seen)
      throw new Error(`Something ran after ${QUIET_TURNS} quiet microtask turns; raise QUIET_TURNS.`)
  }

  function after(ms: number, run: () => void): () => void {
    activity += 1
    scheduled += 1
    const item: Item = { time: time + Math.max(0, ms), tie: random.u32(), number: scheduled, run }
    push(heap, item)
    return () => {
      item.run = null
    }
  }

  return {
    get time() {
      return time
    },
    get items() {
      return items
    },
    after,
    sleep: (ms) => new Promise((resolve) => void after(ms, resolve)),

    async advance(until) {
      await drain()
      for (let next = heap[0]; next !== undefined && next.time <= until; next = heap[0]) {
        pop(heap)
        if (next.run === null) continue
        time = next.time
        items += 1
        next.run()
        await drain()
      }
      time = Math.max(time, until)
    },

    trace(line) {
      activity += 1
      const text = `${time.toFixed(3).padStart(10)} ${line}`
      low = hashText(text, low)
      high = hashText(text, high)
      onLine?.(text)
      lines.push(text)
      if (lines.length >= keep * 2) lines = lines.slice(-keep)
    },
    get lines() {
      return lines.slice(-keep)
    },
    get hash() {
      return low.toString(16).padStart(8, '0') + high.toString(16).padStart(8, '0')
    },
  }
}

const isBefore = (a: Item, b: Item): boolean =>
  a.time !== b.time ? a.time < b.time : a.tie !== b.tie ? a.tie < b.tie : a.number < b.number

function push(heap: Item[], item: Item): void {
  let at = heap.length
  heap.push(item)
  while (at > 0) {
    const up = (at - 1) >> 1
    const parent = heap[up]
    if (parent === undefined || !isBefore(item, parent)) break
    heap[at] = parent
    at = up
  }
  heap[at] = item
}

function pop(heap: Item[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    const left = heap[at * 2 + 1]
    const right = heap[at * 2 + 2]
    if (left === undefined) break
    const isRight = right !== undefined && isBefore(right, left)
    const child = isRight ? right : left
    if (!isBefore(child, last)) break
    heap[at] = child
    at = at * 2 + (isRight ? 2 : 1)
  }
  heap[at] = last
}
