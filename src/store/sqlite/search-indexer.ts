// Keeps the search index up to date, apart from the commits: they would have to wait for it. What a killed server has not indexed is
// indexed by the next one, because the database knows how far the index goes.

import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SearchReads } from '../ports/search.ts'
import { indexing } from '../tables/search.ts'
import { diskFull, errcodeOf } from './disk/storage-error.ts'
import { createSearchIndexRows } from './rows/search-table.ts'

/** A step takes about 3 ms where others wait for their turn. */
const STEP_CHARS = 24 * 1024
/** The more texts one transaction indexes, the less each of them costs: 200 at once cost half of 20. This takes about 15 ms. */
const RESTING_STEP_CHARS = 8 * STEP_CHARS
/** While runs execute, nothing is indexed unless so many texts are due. They cannot pile up in a server that never rests. */
const MOST_DUE = 10_000
/** FTS5 found that its own tables do not fit together. The texts are not affected, so the index is made again. */
const SQLITE_CORRUPT_VTAB = 267

export interface IndexerSurroundings {
  /** Called after each step. */
  written(): void
  /** Without space for a step of so many characters nothing is indexed: what people say comes first. */
  hasSpace(chars: number): boolean
  /** Runs execute. */
  isBusy(): boolean
}

/** Calls `failed` with errors of the database. */
export function createSearchIndexer(
  db: DatabaseSync,
  failed: (error: unknown) => void,
  { written, hasSpace, isBusy }: IndexerSurroundings,
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

  function step(chars: number): boolean {
    try {
      return inTransaction(() => rows.step(chars))
    } catch (error) {
      if (errcodeOf(error) !== SQLITE_CORRUPT_VTAB) throw error
      inTransaction(rows.clear)
      return true
    }
  }

  /** Never throws: a search can use what is indexed. */
  function tryStep(chars = STEP_CHARS): void {
    try {
      if (!hasSpace(chars)) throw diskFull(null)
      isDone = !step(chars)
      if (hasFailed) again(indexing.soonMs)
      hasFailed = false
    } catch (error) {
      isDone = true
      hasFailed = true
      failed(error)
      again(indexing.retryMs)
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
    const isShared = isBusy()
    if (isShared && rows.due() < MOST_DUE) {
      schedule(indexing.soonMs)
      return
    }
    const begun = performance.now()
    tryStep(isShared ? STEP_CHARS : RESTING_STEP_CHARS)
    const took = performance.now() - begun
    // Other requests get at least every second turn.
    if (!isDone) schedule(isShared ? took / indexing.share : took)
  }

  schedule(indexing.soonMs)

  return {
    /** Something was committed. It is indexed soon. */
    noticeCommit(): void {
      isDone = false
      if (timer === null) schedule(indexing.soonMs)
    },
    /** The same search, in an index that is brought up to date first, as far as that goes in a short time. */
    searched: ({ find }: SearchReads): SearchReads => ({
      async find(query) {
        // The disk may have space again, and somebody waits for the answer.
        if (hasFailed) isDone = false
        const until = performance.now() + indexing.catchUpMs
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
          schedule(indexing.soonMs)
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
