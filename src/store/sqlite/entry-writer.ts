// Appends entries: assigns seqs, collects text in flight in the table `tail`, and moves it to `entries` when it is complete.

import type { DatabaseSync } from 'node:sqlite'
import type { NewEntry } from '../ports/journal.ts'
import { packLines } from '../tables/packed-rows.ts'
import { OPEN } from '../tables/runs.ts'
import type { WalSync } from './disk/wal-sync.ts'
import { type LiveSession, type LiveState, SEGMENT_LIMIT, SEQ_BLOCK, type Segment } from './live-sessions.ts'
import { textInFlight } from './text-in-flight.ts'

export type EntryWriter = ReturnType<typeof createEntryWriter>

export function createEntryWriter(db: DatabaseSync, state: LiveState, sync: WalSync | null) {
  const insertRow = db.prepare(
    'INSERT INTO entries (sid, first_seq, last_seq, run_id, data, layout) VALUES (?, ?, ?, ?, ?, NULL)',
  )
  const load = createSessionLoader(db)
  const seqs = createSeqs(db, sync)
  const tail = createTail(db, state)

  function keep(sessionId: string, live: LiveSession): LiveSession {
    state.sessions.set(sessionId, live)
    state.onRollback(() => state.sessions.delete(sessionId))
    state.touch(live)
    return live
  }

  /** Moves the session's text in flight to `entries`. */
  function seal(live: LiveSession): void {
    const segment = live.segment
    if (segment === null) return
    const data = segment.pieces.join('\n')
    insertRow.run(live.sid, segment.firstSeq, segment.firstSeq + segment.count - 1, segment.runId, data)
    live.segment = null
  }

  return {
    begin(): void {
      seqs.begin()
      tail.begin()
    },

    /** The session's live state. Loads it if it is not in memory. */
    live(sessionId: string, sid: number): LiveSession {
      const live = state.sessions.get(sessionId)
      if (live === undefined) return keep(sessionId, load(sid))
      state.touch(live)
      return live
    },

    /** The live state of a session that this command created. Its row has the first block of seqs. */
    begun(sessionId: string, sid: number): LiveSession {
      const live = { sid, head: 0, ceiling: SEQ_BLOCK, syncedCeiling: 0, segment: null, changedIn: 0 }
      seqs.reserved(live)
      return keep(sessionId, live)
    },

    /** Adds text in flight to this commit's row of `tail`. Returns the first seq. */
    appendText(live: LiveSession, runId: string, entries: readonly NewEntry[]): number {
      const count = entries.length
      const firstSeq = seqs.takeForText(live, count)
      const data = packLines(entries)
      const chars = charsIn(entries)
      const segment = live.segment
      if (segment !== null && continues(segment, runId, firstSeq)) {
        extend(segment, count, data, chars)
        if (segment.chars > SEGMENT_LIMIT) {
          seal(live)
          return firstSeq
        }
      } else {
        seal(live)
        live.segment = { firstSeq, count, runId, pieces: [data], joined: 0, chars, tid: tail.nextTid }
      }
      tail.add(`#${live.sid} ${firstSeq} ${count} ${runId}`, data)
      return firstSeq
    },

    /** Adds complete entries to `entries`, after the session's text from `tail`. Returns the first seq, 0 without entries. */
    appendComplete(live: LiveSession, runId: string | null, entries: readonly NewEntry[]): number {
      const segment = live.segment
      if (entries.length === 0) return 0
      const firstSeq = seqs.take(live, entries.length)
      const data = packLines(entries)
      // One row together with the text before it, if that belongs to the same run.
      if (segment !== null && continues(segment, runId, firstSeq)) {
        extend(segment, entries.length, data, 0)
        seal(live)
      } else {
        seal(live)
        insertRow.run(live.sid, firstSeq, firstSeq + entries.length - 1, runId, data)
      }
      return firstSeq
    },

    seal,
    /** Writes this commit's row of `tail`. Call it right before COMMIT. */
    finish: tail.finish,
    /** Call it after COMMIT. Makes sure that newly reserved seqs are on disk before the old block is used up. */
    committed: seqs.committed,
    /** Removes rows of `tail` whose text is in `entries` now, or whose session is gone. */
    trimTail: tail.trim,

    /** Moves text in flight that a crash left in `tail` to `entries`. Call it once, when the store opens. */
    recoverTail(): void {
      db.exec('BEGIN IMMEDIATE')
      for (const { sid, firstSeq, count, runId, data } of textInFlight(db)) {
        insertRow.run(sid, firstSeq, firstSeq + count - 1, runId, data)
      }
      db.exec('DELETE FROM tail')
      db.exec('COMMIT')
    },
  }
}

/** Reads a session's state from the tables. */
function createSessionLoader(db: DatabaseSync): (sid: number) => LiveSession {
  const loadHead = db.prepare(
    `SELECT seq_ceiling, (SELECT max(last_seq) FROM entries WHERE sid = ?1),
            EXISTS (SELECT 1 FROM runs WHERE sid = ?1 AND status = 'running' AND ${OPEN})
     FROM sessions WHERE sid = ?1`,
  )
  loadHead.setReturnArrays(true)

  return (sid) => {
    const [ceiling, lastSeq, isAbandoned] = loadHead.get(sid) as unknown as [number, number | null, number]
    const found = lastSeq ?? 0
    // A run of this process would be in memory, so the process of this one died. It may have sent more than the disk kept.
    const head = isAbandoned === 1 ? Math.max(found, ceiling) : found
    return { sid, head, ceiling, syncedCeiling: ceiling, segment: null, changedIn: 0 }
  }
}

/** Assigns seqs, and reserves them in blocks. */
function createSeqs(db: DatabaseSync, sync: WalSync | null) {
  const reserve = db.prepare('UPDATE sessions SET seq_ceiling = ? WHERE sid = ?')
  let reserved: LiveSession[] = []
  /** Sessions with seqs beyond those that are surely reserved on disk. */
  let exhausted: LiveSession[] = []

  /** Takes the next `count` seqs. Returns the first one. */
  function take(live: LiveSession, count: number): number {
    const firstSeq = live.head + 1
    live.head += count
    if (live.head > live.ceiling - SEQ_BLOCK / 2) {
      live.ceiling = live.head + SEQ_BLOCK
      reserve.run(live.ceiling, live.sid)
      reserved.push(live)
    }
    return firstSeq
  }

  return {
    begin(): void {
      reserved = []
      exhausted = []
    },
    /** A block of this session is in its row, and not yet on disk. */
    reserved: (live: LiveSession): void => void reserved.push(live),

    take,

    /** The same, for text, which readers see before it is synced. */
    takeForText(live: LiveSession, count: number): number {
      const firstSeq = take(live, count)
      if (live.head > live.syncedCeiling) exhausted.push(live)
      return firstSeq
    },

    committed(): void {
      if (sync === null) return
      // The disk is so slow that the old block was used up before the new one was on it. An id must never be used twice, so
      // everything waits for this sync.
      if (exhausted.length > 0) {
        sync.syncNow()
        for (const live of [...exhausted, ...reserved]) live.syncedCeiling = live.ceiling
      } else if (reserved.length > 0) {
        const ceilings = reserved.map((live) => [live, live.ceiling] as const)
        void sync.synced().then(() => {
          for (const [live, ceiling] of ceilings) live.syncedCeiling = Math.max(live.syncedCeiling, ceiling)
        })
      }
    },
  }
}

/** Writes the table `tail`: one row for all the text of a commit. */
function createTail(db: DatabaseSync, state: LiveState) {
  const insert = db.prepare('INSERT INTO tail (tid, data) VALUES (?, ?)')
  const deleteBefore = db.prepare('DELETE FROM tail WHERE tid < ?')
  let nextTid = 1
  let deletedTid = 1
  let lines: string[] = []

  function trim(): void {
    let oldest = nextTid
    for (const live of state.sessions.values()) {
      if (live.segment !== null && live.segment.tid < oldest) oldest = live.segment.tid
    }
    if (oldest > deletedTid) deleteBefore.run(oldest)
    deletedTid = oldest
  }

  return {
    /** The row that this commit writes. */
    get nextTid(): number {
      return nextTid
    },
    begin(): void {
      lines = []
    },
    add(head: string, data: string): void {
      lines.push(head, data)
    },
    finish(): void {
      if (lines.length > 0) {
        insert.run(nextTid, lines.join('\n'))
        nextTid += 1
      }
      if (nextTid - deletedTid > 256) trim()
    },
    trim,
  }
}

/** True when an entry with this seq comes right after the segment, in the same run. */
function continues(segment: Segment, runId: string | null, seq: number): boolean {
  return segment.runId === runId && segment.firstSeq + segment.count === seq
}

function charsIn(entries: readonly NewEntry[]): number {
  let chars = 0
  for (const { data } of entries) chars += data.length
  return chars
}

function extend(segment: Segment, count: number, data: string, chars: number): void {
  segment.count += count
  segment.pieces.push(data)
  segment.chars += chars
}
