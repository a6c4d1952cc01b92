// Keeps the search index up to date, apart from the commits: they would have to wait for it. What a killed server has not indexed is
// indexed by the next one, because the database knows how far the index goes.

import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SearchReads } from '../ports/search.ts'
import { diskFull, errcodeOf } from './disk/storage-error.ts'
import { createSearchIndexRows } from './rows/search-table.ts'

/** After a commit others usually follow, and one step takes them all. */
const SOON_MS = 1_000
/** One step takes a few ms, and then others get their turn. */
const STEP_CHARS = 24 * 1024
/** Of the time, this part is for indexing: a large old database must not slow the server down. */
const SHARE = 0.1
/** After an error, such as a full disk. */
const RETRY_MS = 30_000
/** A search waits so long for the index at most. */
const CATCH_UP_MS = 300
/** FTS5 found that its own tables do not fit together. The texts are not affected, so the index is made again. */
const SQLITE_CORRUPT_VTAB = 267

export interface IndexerDisk {
  /** Called after each step. */
  written(): void
  /** Without space nothing is indexed: what people say comes first. */
  hasSpace(): boolean
}

/** Calls `failed` with errors of the database. */
export function createSearchIndexer(
  db: DatabaseSync,
  failed: (error: unknown) => void,
  { written, hasSpace }: IndexerDisk = { written: () => {}, hasSpace: () => true },
) {
  const rows = createSearchIndexRows(db)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  let timer: NodeJS.Timeout | null = null
  let isDone = false
  let hasFailed = false
  let isClosed = false

  function inTransaction<T>(work: () => T): T {
    begin.run()
    try {
      const result = work()
      commit.run()
      written()
      return result
    } catch (error) {
      if (db.isTransaction) rollback.run()
      throw error
    }
  }

  function step(): boolean {
    try {
      return inTransaction(() => rows.step(STEP_CHARS))
    } catch (error) {
      if (errcodeOf(error) !== SQLITE_CORRUPT_VTAB) throw error
      inTransaction(rows.clear)
      return true
    }
  }

  /** Never throws: a search can use what is indexed. */
  function tryStep(): void {
    try {
      if (!hasSpace()) throw diskFull(null)
      isDone = !step()
      if (hasFailed) again(SOON_MS)
      hasFailed = false
    } catch (error) {
      isDone = true
      hasFailed = true
      failed(error)
      again(RETRY_MS)
    }
  }

  function again(ms: number): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    schedule(ms)
  }

  function schedule(ms: number): void {
    if (isClosed || timer !== null) return
    timer = setTimeout(work, ms)
    timer.unref()
  }

  function work(): void {
    timer = null
    const begun = performance.now()
    tryStep()
    if (!isDone) schedule((performance.now() - begun) / SHARE)
  }

  schedule(SOON_MS)

  return {
    /** Something was committed. It is indexed soon. */
    noticeCommit(): void {
      isDone = false
      if (timer === null) schedule(SOON_MS)
    },
    /** The same search, in an index that is brought up to date first, as far as that goes in a short time. */
    searched: ({ find }: SearchReads): SearchReads => ({
      async find(query) {
        // The disk may have space again, and somebody waits for the answer.
        if (hasFailed) isDone = false
        const until = performance.now() + CATCH_UP_MS
        for (let steps = 0; !isDone && !isClosed && (steps === 0 || performance.now() < until); steps += 1) {
          tryStep()
          await nextTurn()
        }
        try {
          return await find(query)
        } catch (error) {
          if (errcodeOf(error) !== SQLITE_CORRUPT_VTAB) throw error
          inTransaction(rows.clear)
          isDone = false
          schedule(SOON_MS)
          return { found: [], next: null, isComplete: false }
        }
      },
    }),
    close(): void {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      timer = null
    },
  }
}
