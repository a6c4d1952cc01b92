// All reads of the store.

import type { DatabaseSync } from 'node:sqlite'
import type { Journal, StoredEntry } from '../../ports/journal.ts'
import type { StoreReads } from '../../store.ts'
import { createFileReads } from '../../tables/files.ts'
import { createGrantReads } from '../../tables/grants.ts'
import { createOutboxReads } from '../../tables/outbox.ts'
import { createCollector, type EntryRow, toEntries, unpackRow } from '../../tables/packed-rows.ts'
import { createSupervisedReads, toProposal } from '../../tables/supervised.ts'
import { createUsageReads } from '../../tables/usage.ts'
import { createWaitReads } from '../../tables/waits.ts'
import type { LiveState } from '../live-sessions.ts'
import { createReading, createStatements, type Statements } from '../statements.ts'
import { createAuditReads } from './audit-table.ts'
import { createFeedReads } from './feed-table.ts'
import { createMessageReads } from './message-table.ts'
import { createRunReads } from './run-table.ts'
import { createSearchReads } from './search-table.ts'
import { createSessionIds, createSessionReads, createSupervisedSessions, type SessionIds } from './session-table.ts'

export function createReads(db: DatabaseSync, state: LiveState): StoreReads {
  const sid = createSessionIds(db, state)
  const statements = createStatements(db)
  const reading = createReading(statements)

  return {
    ...createEntryReads(db, statements, state, sid),
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

function createEntryReads(
  db: DatabaseSync,
  { one, many }: Statements,
  state: LiveState,
  sid: SessionIds,
): Omit<Journal, 'commit'> {
  const entryRows = many(
    'SELECT first_seq, run_id, data, layout FROM entries WHERE sid = $1 AND last_seq > $2 ORDER BY last_seq LIMIT $3',
    toEntries,
  )
  const rowAround = one(
    'SELECT first_seq, run_id, data, layout, last_seq FROM entries WHERE sid = $1 AND last_seq >= $2 ORDER BY last_seq LIMIT 1',
    toEntries,
  )
  const rowBefore = one(
    'SELECT first_seq, run_id, data, layout, last_seq FROM entries WHERE sid = $1 AND last_seq < $2 ORDER BY last_seq DESC LIMIT 1',
    (row: EntryRow) => ({ entries: toEntries(row), lastSeq: row[4] }),
  )
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
      const { found, isEnough, take } = createCollector(limit, maxChars)
      let after = seq
      function takeNext(entries: readonly StoredEntry[]): void {
        for (const entry of entries) {
          if (isEnough() || entry.seq <= after) continue
          take(entry)
          after = entry.seq
        }
      }
      const live = state.sessions.get(sessionId)
      const segment = live?.segment
      /** Nothing after it is in the table. A reader that has just read everything asks again. */
      const stored = segment != null ? segment.firstSeq - 1 : (live?.head ?? Number.POSITIVE_INFINITY)
      // One row may hold an event of several megabytes.
      const rowsAtOnce = limit === 1 || maxChars !== Number.POSITIVE_INFINITY ? 1 : 16
      while (!isEnough() && after < stored) {
        const rows = entryRows(id, after, rowsAtOnce)
        for (const entries of rows) takeNext(entries)
        if (rows.length < rowsAtOnce) break
      }
      if (segment != null && segment.firstSeq + segment.count > after + 1) {
        takeNext(unpackRow(segment.firstSeq, segment.runId, segment.pieces.join('\n'), null))
      }
      return found
    },

    async entriesBefore(sessionId, seq, limit, maxChars = Number.POSITIVE_INFINITY) {
      const id = sid(sessionId)
      if (id === null) return []
      const { found, isEnough, take } = createCollector(limit, maxChars)
      function takeOlder(entries: readonly StoredEntry[]): void {
        for (const entry of entries.toReversed()) if (!isEnough() && entry.seq < seq) take(entry)
      }
      const segment = state.sessions.get(sessionId)?.segment
      if (segment != null && segment.firstSeq < seq) {
        takeOlder(unpackRow(segment.firstSeq, segment.runId, segment.pieces.join('\n'), null))
      }
      takeOlder(rowAround(id, seq) ?? [])
      let before = seq
      while (!isEnough()) {
        const row = rowBefore(id, before)
        if (row === null) break
        takeOlder(row.entries)
        before = row.lastSeq
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
