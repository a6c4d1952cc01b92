// Room in memory that many share: whoever is about to read something large waits until others have let go of theirs.

import type { Clock } from './clock.ts'

export interface Holder {
  owner: string
  /** Called once it has held its room for 30 s and somebody waits: a slow reader must not keep the others out. */
  onOverdue?: () => void
}

export interface ByteBudget {
  /**
   * Resolves when there is room, with what gives it back. Of those who wait the first whose owner holds least gets it: nobody can
   * keep others out with many readers. What is larger than all there is gets all of it.
   */
  take(bytes: number, holder?: Holder): Promise<() => void>
  /** The same at once, or null: then there is no room just now. */
  takeNow(bytes: number, holder?: Holder): (() => void) | null
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
  holder: Holder
}

const NOBODY: Holder = { owner: '' }

export function createByteBudget(max: number, clock: Pick<Clock, 'mono' | 'after' | 'soon'>): ByteBudget {
  const holds = new Set<Hold>()
  const queue: { bytes: number; holder: Holder; begin: () => void }[] = []
  let used = 0
  const turns: (() => void)[] = []
  let cancel: (() => void) | null = null

  const hasRoom = (bytes: number): boolean => used + bytes <= max

  /** Where in the queue the next one is; -1 when nobody waits. */
  function nextInLine(): number {
    const held = new Map<string, number>()
    for (const { bytes, holder } of holds) held.set(holder.owner, (held.get(holder.owner) ?? 0) + bytes)
    let least = Number.POSITIVE_INFINITY
    let next = -1
    for (const [i, { holder }] of queue.entries()) {
      const bytes = held.get(holder.owner) ?? 0
      if (bytes >= least) continue
      least = bytes
      next = i
    }
    return next
  }

  function hold(bytes: number, holder: Holder): () => void {
    const one: Hold = { bytes, since: clock.mono(), holder }
    holds.add(one)
    used += bytes
    return () => {
      if (!holds.delete(one)) return
      used -= bytes
      for (;;) {
        const at = nextInLine()
        const next = queue[at]
        if (next === undefined || !hasRoom(next.bytes)) break
        queue.splice(at, 1)
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
    for (const one of [...holds]) if (now - one.since >= OVERDUE_MS) one.holder.onOverdue?.()
    watch()
  }

  function nextTurn(): void {
    turns.shift()?.()
    if (turns.length > 0) clock.soon(nextTurn)
  }

  const within = (bytes: number): number => Math.min(bytes, max)

  return {
    take(asked, holder = NOBODY) {
      const bytes = within(asked)
      if (queue.length === 0 && hasRoom(bytes)) return Promise.resolve(hold(bytes, holder))
      return new Promise((resolve) => {
        queue.push({ bytes, holder, begin: () => resolve(hold(bytes, holder)) })
        watch()
      })
    },
    takeNow(asked, holder = NOBODY) {
      const bytes = within(asked)
      return queue.length === 0 && hasRoom(bytes) ? hold(bytes, holder) : null
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
