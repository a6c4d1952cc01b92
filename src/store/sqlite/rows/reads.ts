// All reads of the store.

import type { DatabaseSync } from 'node:sqlite'
import { unpackRow } from '../../packing/packed-rows.ts'
import type { StoredEntry } from '../../ports/entry.ts'
import type { FileReads } from '../../ports/files.ts'
import type { Journal } from '../../ports/journal.ts'
import type { StoreReads } from '../../store-reads.ts'
import type { LiveState } from '../live-sessions.ts'
import { createAuditReads } from './audit-table.ts'
import { createFeedReads } from './feed-table.ts'
import { createMessageReads } from './message-table.ts'
import { createOutboxTable } from './outbox-table.ts'
import { FILE_COLUMNS, toFile } from './rows.ts'
import { createRunReads } from './run-table.ts'
import { createSearchReads } from './search-table.ts'
import { createSessionIds, createSessionReads, type SessionIds } from './session-table.ts'
import { createSupervisedReads } from './supervised-table.ts'
import { createUsageReads } from './usage-table.ts'
import { createGrantReads, createWaitReads } from './wait-reads.ts'

export function createReads(db: DatabaseSync, state: LiveState): StoreReads {
  const sid = createSessionIds(db, state)
  const outbox = createOutboxTable(db)

  return {
    ...createEntryReads(db, state, sid),
    sessions: createSessionReads(db),
    messages: createMessageReads(db, sid),
    runs: createRunReads(db),
    waits: createWaitReads(db),
    grants: createGrantReads(db),
    supervised: createSupervisedReads(db),
    files: createFileReads(db),
    feed: createFeedReads(db, state),
    outbox: {
      cursor: async (channel) => outbox.cursor(channel),
      deliveries: async (channel) => outbox.deliveries(channel),
      note: async (channel, key) => outbox.note(channel, key),
      notes: async (channel) => outbox.notes(channel),
      notesOf: async (sessionId) => outbox.notesOf(sessionId),
    },
    audit: createAuditReads(db),
    search: createSearchReads(db),
    usage: createUsageReads(db),
  }
}

type EntryReads = Pick<Journal, 'entries' | 'entriesBefore' | 'head' | 'news'>
type EntryRow = [firstSeq: number, runId: string | null, data: string, layout: string | null, lastSeq: number]

function createEntryReads(db: DatabaseSync, state: LiveState, sid: SessionIds): EntryReads {
  const entryRows = db.prepare(
    'SELECT first_seq, run_id, data, layout FROM entries WHERE sid = ? AND last_seq > ? ORDER BY last_seq LIMIT ? + 0',
  )
  entryRows.setReturnArrays(true)
  const rowAround = db.prepare(
    'SELECT first_seq, run_id, data, layout, last_seq FROM entries WHERE sid = ? AND last_seq >= ? ORDER BY last_seq LIMIT 1',
  )
  rowAround.setReturnArrays(true)
  const rowBefore = db.prepare(
    'SELECT first_seq, run_id, data, layout, last_seq FROM entries WHERE sid = ? AND last_seq < ? ORDER BY last_seq DESC LIMIT 1',
  )
  rowBefore.setReturnArrays(true)
  const head = db.prepare('SELECT max(last_seq) AS head FROM entries WHERE sid = ?')
  const isThere = db.prepare("SELECT 1 FROM sessions WHERE id = ? AND status <> 'terminated'")

  function headOf(sessionId: string): number {
    const live = state.sessions.get(sessionId)
    if (live !== undefined) return live.head
    const id = sid(sessionId)
    return id === null ? 0 : Number(head.get(id)?.head ?? 0)
  }

  return {
    async entries(sessionId, seq, limit, maxChars = Number.POSITIVE_INFINITY) {
      const id = sid(sessionId)
      if (id === null) return []
      const found: StoredEntry[] = []
      let after = seq
      let chars = 0
      const isEnough = () => found.length >= limit || chars >= maxChars
      function take(entries: readonly StoredEntry[]): void {
        for (const entry of entries) {
          if (isEnough()) return
          if (entry.seq <= after) continue
          found.push(entry)
          after = entry.seq
          chars += entry.data.length
        }
      }
      // One row may hold an event of several megabytes.
      const rowsAtOnce = limit === 1 || maxChars !== Number.POSITIVE_INFINITY ? 1 : 16
      while (!isEnough()) {
        const rows = entryRows.all(id, after, rowsAtOnce) as unknown as EntryRow[]
        if (rows.length === 0) break
        for (const [firstSeq, runId, data, layout] of rows) take(unpackRow(firstSeq, runId, data, layout))
        if (rows.length < rowsAtOnce) break
      }
      const segment = state.sessions.get(sessionId)?.segment
      if (segment != null && segment.firstSeq + segment.count > after + 1) {
        take(unpackRow(segment.firstSeq, segment.runId, segment.pieces.join('\n'), null))
      }
      return found
    },

    async entriesBefore(sessionId, seq, limit, maxChars = Number.POSITIVE_INFINITY) {
      const id = sid(sessionId)
      if (id === null) return []
      const found: StoredEntry[] = []
      let chars = 0
      const isEnough = () => found.length >= limit || chars >= maxChars
      function take(entries: readonly StoredEntry[]): void {
        for (const entry of entries.toReversed()) {
          if (isEnough()) return
          if (entry.seq >= seq) continue
          found.push(entry)
          chars += entry.data.length
        }
      }
      const segment = state.sessions.get(sessionId)?.segment
      if (segment != null && segment.firstSeq < seq) {
        take(unpackRow(segment.firstSeq, segment.runId, segment.pieces.join('\n'), null))
      }
      let row = rowAround.get(id, seq) as unknown as EntryRow | undefined
      if (row !== undefined) take(unpackRow(row[0], row[1], row[2], row[3]))
      let before = seq
      while (!isEnough()) {
        row = rowBefore.get(id, before) as unknown as EntryRow | undefined
        if (row === undefined) break
        take(unpackRow(row[0], row[1], row[2], row[3]))
        before = row[4]
      }
      return found
    },

    head: async (sessionId) => headOf(sessionId),
    news: async (after) =>
      // One process owns this store, and its log tells the readers what is new. So it is enough to say that there is something.
      new Map(
        [...after]
          .filter(([id]) => isThere.get(id) !== undefined)
          .map(([id, seq]) => [id, headOf(id) > seq ? null : []]),
      ),
  }
}

function createFileReads(db: DatabaseSync): FileReads {
  const fileById = db.prepare(`SELECT ${FILE_COLUMNS} WHERE files.id = ?`)
  const ofSession = db.prepare(
    `SELECT ${FILE_COLUMNS} WHERE files.sid = (SELECT sid FROM sessions WHERE id = ?) ORDER BY files.fid`,
  )
  const unsent = db.prepare(
    `SELECT total(n) AS files, total(bytes) AS bytes, min(oldest) AS oldest FROM (
       SELECT count(*) AS n, max(bytes) AS bytes, min(created_at) AS oldest FROM files
       WHERE owner = ? AND sid IS NULL GROUP BY sha256)`,
  )
  const known = db.prepare('SELECT DISTINCT sha256 FROM files WHERE sha256 IN (SELECT value FROM json_each(?))')

  return {
    async get(id) {
      const row = fileById.get(id)
      return row === undefined ? null : toFile(row)
    },
    async ofSession(sessionId) {
      return ofSession.all(sessionId).map(toFile)
    },
    async unsent(owner) {
      const { files = 0, bytes = 0, oldest = null } = unsent.get(owner) ?? {}
      return { files: Number(files), bytes: Number(bytes), oldest: oldest === null ? null : Number(oldest) }
    },
    async knownHashes(hashes) {
      return hashes.length === 0 ? [] : known.all(JSON.stringify(hashes)).map((row) => String(row.sha256))
    },
  }
}
