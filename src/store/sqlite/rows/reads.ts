// All reads of the store.

import type { DatabaseSync } from 'node:sqlite'
import type { Journal, StoredEntry } from '../../ports/journal.ts'
import type { StoreReads } from '../../store.ts'
import { createFileReads } from '../../tables/files.ts'
import { createGrantReads } from '../../tables/grants.ts'
import { createOutboxReads } from '../../tables/outbox.ts'
import { unpackRow } from '../../tables/packed-rows.ts'
import { createSupervisedReads, toProposal } from '../../tables/supervised.ts'
import { createUsageReads } from '../../tables/usage.ts'
import { createWaitReads } from '../../tables/waits.ts'
import type { LiveState } from '../live-sessions.ts'
import { createReading, createStatements } from '../statements.ts'
import { createAuditReads } from './audit-table.ts'
import { createFeedReads } from './feed-table.ts'
import { createMessageReads } from './message-table.ts'
import { createRunReads } from './run-table.ts'
import { createSearchReads } from './search-table.ts'
import { createSessionIds, createSessionReads, createSupervisedSessions, type SessionIds } from './session-table.ts'

export function createReads(db: DatabaseSync, state: LiveState): StoreReads {
  const sid = createSessionIds(db, state)
  const statements = createStatements(db)
  const reading = createReading(db)

  return {
    ...createEntryReads(db, state, sid),
    sessions: createSessionReads(db, statements, reading),
    messages: createMessageReads(db, sid, reading),
    runs: createRunReads(reading),
    waits: createWaitReads(reading),
    grants: createGrantReads(reading),
    supervised: createSupervisedReads(reading, {
      sessions: createSupervisedSessions(reading),
      proposal: reading.one(
        { name: 'proposal', text: 'SELECT approval_id, diff, after FROM proposals WHERE approval_id = $1' },
        toProposal,
      ),
    }),
    files: createFileReads(reading),
    feed: createFeedReads(reading, state),
    outbox: createOutboxReads(reading),
    audit: createAuditReads(statements),
    search: createSearchReads(db, statements),
    usage: createUsageReads(reading, {
      place: 'day, session_id, owner, agent, provider, model',
      values: '$1, $2, $3, $4, $5, $6',
    }),
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
