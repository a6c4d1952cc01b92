import type { ReaderRow, ReaderRows } from '../ports/reader-rows.ts'

export interface MemoryReaderRows extends ReaderRows {
  /** Every row that is there now. */
  all(): (ReaderRow & { replica: string })[]
  /** How often rows were written by now. */
  readonly writes: number
}

/** The rows in memory, shared by processes of a test. `live` says which of them live now. */
export function createMemoryReaderRows(live: () => readonly string[]): MemoryReaderRows {
  const rows = new Map<string, ReaderRow & { replica: string }>()
  const keyOf = (replica: string, { sessionId, runId }: ReaderRow) => JSON.stringify([replica, sessionId, runId])
  let writes = 0
  return {
    async change(replica, added, removed) {
      writes += 1
      for (const row of removed) rows.delete(keyOf(replica, row))
      for (const row of added) rows.set(keyOf(replica, row), { ...row, replica })
    },
    async readElsewhere(replica, sessionIds) {
      const others = live().filter((one) => one !== replica)
      return [...rows.values()].filter((row) => sessionIds.includes(row.sessionId) && others.includes(row.replica))
    },
    others: async (replica) => live().filter((one) => one !== replica),
    async tidy() {
      for (const [key, row] of rows) if (!live().includes(row.replica)) rows.delete(key)
    },
    all: () => [...rows.values()],
    get writes() {
      return writes
    },
  }
}
