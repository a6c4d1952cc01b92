// What the writer keeps in memory about sessions with a running run: the head of the log and the text in flight that is not
// in `entries` yet. Everything here can be rebuilt from the tables; an idle session costs nothing.

import type { RunRecord } from '../../domain/run.ts'

/** Consecutive entries of one run that so far are only in `tail`. */
export interface Segment {
  firstSeq: number
  count: number
  runId: string
  /** Packed lines, in pieces. The first `joined` of them are many that came one by one. */
  pieces: string[]
  joined: number
  length: number
  /** The oldest row of `tail` that holds some of it. */
  tid: number
}

export interface LiveSession {
  sid: number
  head: number
  /** Seqs up to here are reserved on disk (once synced): none of them is given out again after a crash. */
  ceiling: number
  syncedCeiling: number
  segment: Segment | null
  /** The transaction that last changed it. */
  changedIn: number
}

/** A run that this process executes. The record is as it is in the table. */
export interface LiveRun {
  sid: number
  record: RunRecord
}

/** Seqs are reserved in blocks of this size; after a crash a recovered run goes on behind the block. */
export const SEQ_BLOCK = 10_000

/** Segments longer than this many characters move to `entries`, which bounds the memory of a long answer. */
export const SEGMENT_LIMIT = 32_768

/** Changes to the maps that can be taken back when the transaction around them fails. */
export interface LiveState {
  /** Numbers of the feed: of the last item that was written, and of the last one that is on disk. */
  feed: { written: number; shown: number }
  sessions: Map<string, LiveSession>
  runs: Map<string, LiveRun>
  begin(): void
  /** Call before changing a live session within a transaction. */
  touch(live: LiveSession): void
  /** This process executes the run. */
  own(live: LiveRun): void
  /** Something else executes the run, or nobody does. */
  disown(runId: string): void
  /** Forgets what is known about the session; it is loaded again when it is needed. */
  drop(sessionId: string): void
  /** Something else to take back on failure. */
  onRollback(undo: () => void): void
  rollback(): void
}

const copyOf = (segment: Segment | null): Segment | null =>
  segment === null ? null : { ...segment, pieces: [...segment.pieces] }

export function createLiveState(): LiveState {
  const sessions = new Map<string, LiveSession>()
  const runs = new Map<string, LiveRun>()
  // Lists, not a Map that is cleared: V8 chains the tables of a Map, and what they held outlives the transaction by a lot.
  let touched: { live: LiveSession; before: LiveSession }[] = []
  let undos: (() => void)[] = []
  let transaction = 0
  const onRollback = (undo: () => void): void => void undos.push(undo)
  return {
    feed: { written: 0, shown: 0 },
    sessions,
    runs,
    own(live) {
      const { id } = live.record
      const before = runs.get(id)
      runs.set(id, live)
      onRollback(() => (before === undefined ? runs.delete(id) : runs.set(id, before)))
    },
    disown(runId) {
      const before = runs.get(runId)
      if (before === undefined) return
      runs.delete(runId)
      onRollback(() => runs.set(runId, before))
    },
    drop(sessionId) {
      const before = sessions.get(sessionId)
      if (before === undefined) return
      sessions.delete(sessionId)
      onRollback(() => sessions.set(sessionId, before))
    },
    begin() {
      transaction += 1
      touched = []
      undos = []
    },
    touch(live) {
      if (live.changedIn === transaction) return
      touched.push({ live, before: { ...live, segment: copyOf(live.segment) } })
      live.changedIn = transaction
    },
    onRollback,
    rollback() {
      for (const { live, before } of touched) Object.assign(live, before)
      for (const undo of undos.reverse()) undo()
    },
  }
}
