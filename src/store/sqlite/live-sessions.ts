// What the writer keeps in memory about sessions with a running run: the head of the log, and text in flight that is not in
// `entries` yet. All of it can be rebuilt from the tables. An idle session costs nothing.

import { PassingMap } from '../../domain/passing.ts'
import type { RunRecord } from '../../domain/session/run.ts'

/** Consecutive entries of one run that are only in `tail` so far. */
export interface Segment {
  firstSeq: number
  count: number
  runId: string
  /** Packed lines, in pieces. Each of the first `joined` pieces was joined from many. */
  pieces: string[]
  joined: number
  /** Characters of its entries, which are more than those of their packed lines. */
  chars: number
  /** The oldest row of `tail` with text of this segment. */
  tid: number
}

export interface LiveSession {
  sid: number
  head: number
  /** Seqs up to here are reserved (on disk once synced), so that none of them is used again after a crash. */
  ceiling: number
  syncedCeiling: number
  segment: Segment | null
  /** The transaction that last changed it. */
  changedIn: number
}

/** A run that this process executes, with its row of the table. */
export interface LiveRun {
  sid: number
  record: RunRecord
  /** False: it has asked nothing, and continues nothing that was asked. Most runs end like this, without a look into the table. */
  mayHaveWaits: boolean
}

/** Seqs are reserved in blocks of this size. After a crash, a recovered run continues after the block. */
export const SEQ_BLOCK = 10_000

/** A segment with more characters than this moves to `entries`, which limits the memory of a long answer and of who reads it. */
export const SEGMENT_LIMIT = 32_768

export type LiveState = ReturnType<typeof createLiveState>

/** A session before the transaction. A segment only grows within one, so its size says what it was. */
interface Before {
  live: LiveSession
  head: number
  ceiling: number
  segment: Segment | null
  count: number
  pieces: number
  chars: number
}

const JOINED_AT_ONCE = 16

/** V8 keeps a concatenated string as parts, which take three times the space. Joining them makes one flat string. */
function joinPieces(segment: Segment): void {
  if (segment.pieces.length - segment.joined < JOINED_AT_ONCE) return
  segment.pieces.push(segment.pieces.splice(segment.joined).join('\n'))
  segment.joined += 1
}

/** Live sessions and runs. Their changes are undone if the transaction fails. */
export function createLiveState() {
  const sessions = new PassingMap<string, LiveSession>()
  const runs = new PassingMap<string, LiveRun>()
  // Lists, not a Map that is cleared: V8 chains the tables of a Map, so their contents would outlive the transaction for long.
  let touched: Before[] = []
  let undos: (() => void)[] = []
  let transaction = 0
  let sessionCount: number | null = null
  /** Adds something to undo if the transaction fails. */
  const onRollback = (undo: () => void): void => void undos.push(undo)
  const countAgain = (): void => {
    sessionCount = null
  }
  /** Undefined: removes it. */
  function change<T>(map: PassingMap<string, T>, id: string, value: T | undefined): void {
    const before = map.get(id)
    if (before === value) return
    const put = (one: T | undefined) => (one === undefined ? map.delete(id) : map.set(id, one))
    put(value)
    onRollback(() => put(before))
  }
  return {
    /** Numbers of feed items: the last one that was written, and the last one that is on disk. */
    feed: { written: 0, shown: 0 },
    sessions,
    runs,
    /** This process executes the run from now on. */
    own: (live: LiveRun): void => change(runs, live.record.id, live),
    /** This process does not execute the run any more. */
    disown: (runId: string): void => change(runs, runId, undefined),
    /** Forgets the session. It is loaded again when it is needed. */
    drop: (sessionId: string): void => change(sessions, sessionId, undefined),
    /** Sessions that are not terminated. `count` reads all of them, so it is called once, not for each new session. */
    sessionCount(count: () => number): number {
      if (sessionCount === null) onRollback(countAgain)
      sessionCount ??= count()
      return sessionCount
    },
    addSessions(change: number): void {
      if (sessionCount === null) return
      sessionCount += change
      onRollback(countAgain)
    },
    begin(): void {
      transaction += 1
      touched = []
      undos = []
    },
    /** Call before changing a live session within a transaction. */
    touch(live: LiveSession): void {
      if (live.changedIn === transaction) return
      const { head, ceiling, segment } = live
      // Only here, between two transactions, where nothing of it can be undone.
      if (segment !== null) joinPieces(segment)
      const { count = 0, pieces = [], chars = 0 } = segment ?? {}
      touched.push({ live, head, ceiling, segment, count, pieces: pieces.length, chars })
      live.changedIn = transaction
    },
    onRollback,
    rollback(): void {
      for (const { live, head, ceiling, segment, count, pieces, chars } of touched) {
        Object.assign(live, { head, ceiling, segment })
        if (segment === null) continue
        segment.pieces.length = pieces
        Object.assign(segment, { count, chars })
      }
      for (const undo of undos.reverse()) undo()
    },
  }
}
