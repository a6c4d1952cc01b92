// Keeps account of what has been on the screen, so that a decision can say what was not looked at.

export interface Seen {
  /** The last part was on the screen; with several files, the last part of each. */
  hasEnd: boolean
  /** From 0 to 1. It is 1 only if everything was. */
  fraction: number
}

export const NOTHING_SEEN: Seen = { hasEnd: false, fraction: 0 }
export const ALL_SEEN: Seen = { hasEnd: true, fraction: 1 }

export interface SeenPart {
  key: string
  /** How much it counts: its number of characters. */
  size: number
  /** Nothing is decided before it was on the screen. */
  isEnd: boolean
}

export function createSeenAccount(parts: readonly SeenPart[]) {
  const left = new Map(parts.map((part) => [part.key, part]))
  // An empty line counts too.
  const sizeOf = ({ size }: SeenPart): number => size + 1
  const total = parts.reduce((sum, part) => sum + sizeOf(part), 0)
  let ends = parts.filter(({ isEnd }) => isEnd).length
  let seen = 0
  return {
    /** True if one of them is new. Unknown keys are passed over. */
    add(keys: Iterable<string>): boolean {
      let isNew = false
      for (const key of keys) {
        const part = left.get(key)
        if (part === undefined) continue
        left.delete(key)
        seen += sizeOf(part)
        if (part.isEnd) ends -= 1
        isNew = true
      }
      return isNew
    },
    current: (): Seen => ({ hasEnd: ends === 0, fraction: left.size === 0 ? 1 : seen / total }),
  }
}

/**
 * Which rows were there in this look and in the one before. Before rows are measured, the end may stand on the screen for a moment and
 * then move down, and nobody has seen it.
 */
export function createLooks(): (found: readonly number[]) => number[] {
  let before: ReadonlySet<number> = new Set()
  return (found) => {
    const stayed = found.filter((row) => before.has(row))
    before = new Set(found)
    return stayed
  }
}

/** Of several things, taken together. */
export const allSeen = (all: readonly Seen[]): Seen => ({
  hasEnd: all.every(({ hasEnd }) => hasEnd),
  fraction: all.every(({ fraction }) => fraction === 1)
    ? 1
    : all.reduce((sum, { fraction }) => sum + fraction, 0) / all.length,
})
