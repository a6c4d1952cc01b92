import type { WrittenText } from './writer-connection.ts'

/** Text that was committed and may not be on disk yet. It is written again if the server loses it. */
export interface UnflushedText {
  add(n: number, rows: readonly WrittenText[], now: number): void
  /** The text of transactions after number `n`. */
  after(n: number): WrittenText[]
  /** The number of the last transaction with text. */
  readonly lastNumber: number
  /** Since when (monotonic) there is text that may not be on disk; null if there is none. */
  readonly since: number | null
  /** Everything is on disk. */
  clear(): void
}

export function createUnflushedText(): UnflushedText {
  let groups: { n: number; rows: readonly WrittenText[]; at: number }[] = []
  return {
    add: (n, rows, at) => void groups.push({ n, rows, at }),
    after: (n) => groups.filter((group) => group.n > n).flatMap(({ rows }) => rows),
    get lastNumber() {
      return groups.at(-1)?.n ?? 0
    },
    get since() {
      return groups[0]?.at ?? null
    },
    clear() {
      groups = []
    },
  }
}
