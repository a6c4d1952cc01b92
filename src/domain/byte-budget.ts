// A shared memory budget: before a reader loads something large, it waits until others have released enough memory.

import type { Clock } from './clock.ts'

export interface Holder {
  owner: string
  /** Called once the holder has kept its bytes for 30 s while others wait: a slow reader must not block them. */
  onOverdue?: () => void
}

/** For all histories that a server reads at the same time. In V8's memory they take a few times as much. */
export const READERS_BYTES = 32 * 1024 * 1024

const OVERDUE_MS = 30_000

interface Hold {
  bytes: number
  since: number
  holder: Holder
}

const NOBODY: Holder = { owner: '' }

export function createByteBudget(max: number, clock: Pick<Clock, 'mono' | 'after' | 'soon'>) {
  const holds = new Set<Hold>()
  const queue: { bytes: number; holder: Holder; begin: () => void }[] = []
  let used = 0
  const turns: (() => void)[] = []
  let cancel: (() => void) | null = null

  const fits = (bytes: number): boolean => used + bytes <= max

  /** Index of the waiter who is next; -1 if nobody waits. */
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
        if (next === undefined || !fits(next.bytes)) break
        queue.splice(at, 1)
        next.begin()
      }
      watch()
    }
  }

  /** Keeps a timer only while somebody waits. */
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
    /**
     * Resolves once there is space, with a function that releases it. The next to get it is the waiter whose owner holds the
     * least, so that nobody can block others with many readers. A request larger than the whole budget gets the whole budget.
     */
    take(asked: number, holder: Holder = NOBODY): Promise<() => void> {
      const bytes = within(asked)
      if (queue.length === 0 && fits(bytes)) return Promise.resolve(hold(bytes, holder))
      return new Promise((resolve) => {
        queue.push({ bytes, holder, begin: () => resolve(hold(bytes, holder)) })
        watch()
      })
    },
    /** Like `take`, but at once; null if there is no space right now. */
    takeNow(asked: number, holder: Holder = NOBODY): (() => void) | null {
      const bytes = within(asked)
      return queue.length === 0 && fits(bytes) ? hold(bytes, holder) : null
    },
    /**
     * Resolves in a turn of the event loop that no other caller of `turn` shares. A reader whose data the kernel accepts at once
     * never yields by itself: a hundred such readers would run one after another in a single turn that takes seconds.
     */
    turn(): Promise<void> {
      return new Promise((resolve) => {
        turns.push(resolve)
        if (turns.length === 1) clock.soon(nextTurn)
      })
    },
    get used(): number {
      return used
    },
    get waiting(): number {
      return queue.length
    },
  }
}

export type ByteBudget = ReturnType<typeof createByteBudget>
