// Room in memory that many share: whoever is about to read something large waits until others have let go of theirs.

import type { Clock } from './clock.ts'

export interface ByteBudget {
  /**
   * Resolves when there is room, in the order of asking, with what gives it back. What is larger than all there is gets all of
   * it. `onOverdue` is called once it was held for 30 s and somebody waits: a slow reader must not keep the others out.
   */
  take(bytes: number, onOverdue?: () => void): Promise<() => void>
  /** The same at once, or null: then there is no room just now. */
  takeNow(bytes: number, onOverdue?: () => void): (() => void) | null
  /**
   * Resolves in a turn of the loop that nobody else gets from here. What is read and taken by the kernel at once never leaves its
   * turn by itself: a hundred readers would follow each other in a single one, of seconds.
   */
  turn(): Promise<void>
  readonly used: number
  readonly waiting: number
}

/** For all histories that are read at once, of a server: with what V8 makes of them a few times that. */
export const READERS_BYTES = 32 * 1024 * 1024

const OVERDUE_MS = 30_000

interface Hold {
  bytes: number
  since: number
  onOverdue: (() => void) | undefined
}

export function createByteBudget(max: number, clock: Pick<Clock, 'mono' | 'after' | 'soon'>): ByteBudget {
  const holds = new Set<Hold>()
  const queue: { bytes: number; begin: () => void }[] = []
  let used = 0
  const turns: (() => void)[] = []
  let cancel: (() => void) | null = null

  const hasRoom = (bytes: number): boolean => used + bytes <= max

  function hold(bytes: number, onOverdue: (() => void) | undefined): () => void {
    const one: Hold = { bytes, since: clock.mono(), onOverdue }
    holds.add(one)
    used += bytes
    return () => {
      if (!holds.delete(one)) return
      used -= bytes
      for (let next = queue[0]; next !== undefined && hasRoom(next.bytes); next = queue[0]) {
        queue.shift()
        next.begin()
      }
      watch()
    }
  }

  /** Only while somebody waits. */
  function watch(): void {
    if (queue.length === 0) {
      cancel?.()
      cancel = null
    } else cancel ??= clock.after(1_000, look)
  }

  function look(): void {
    cancel = null
    const now = clock.mono()
    for (const one of [...holds]) if (now - one.since >= OVERDUE_MS) one.onOverdue?.()
    watch()
  }

  function nextTurn(): void {
    turns.shift()?.()
    if (turns.length > 0) clock.soon(nextTurn)
  }

  const within = (bytes: number): number => Math.min(bytes, max)

  return {
    take(asked, onOverdue) {
      const bytes = within(asked)
      if (queue.length === 0 && hasRoom(bytes)) return Promise.resolve(hold(bytes, onOverdue))
      return new Promise((resolve) => {
        queue.push({ bytes, begin: () => resolve(hold(bytes, onOverdue)) })
        watch()
      })
    },
    takeNow(asked, onOverdue) {
      const bytes = within(asked)
      return queue.length === 0 && hasRoom(bytes) ? hold(bytes, onOverdue) : null
    },
    turn() {
      return new Promise((resolve) => {
        turns.push(resolve)
        if (turns.length === 1) clock.soon(nextTurn)
      })
    },
    get used() {
      return used
    },
    get waiting() {
      return queue.length
    },
  }
}
