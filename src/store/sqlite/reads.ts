// The reading half of the store.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { isFinished } from '../../domain/run.ts'
import { MOST_ASIDE_CHARS, MOST_ASIDES, type SessionQuery, type Store, type StoredEntry } from '../store.ts'
import { createFileReads } from './file-reads.ts'
import type { LiveState } from './live-sessions.ts'
import { OPEN, type Row, toMark, toMessage, toRun, toRunSummary, toSession, unpackRow } from './rows.ts'
import { createWaitReads } from './wait-reads.ts'

/** All but the state, which may be large and which no list shows. */
const LISTED_COLUMNS =
  'id, owner, agent, active_agent, status, created_at, last_activity, terminated_at, last_tool, metadata, alias, label, message_count, unlisted'

const SUMMARY_COLUMNS = `runs.id, runs.owner, runs.agent, wire_id, parent_run_id, runs.status, origin, runs.created_at, started_at,
  finished_at, usage, error, cancel_requested, first_seq, last_seq, fence, lease_owner, sessions.id AS session_id
  FROM runs JOIN sessions USING (sid)`
export const RUN_COLUMNS = 'runs.*, sessions.id AS session_id FROM runs JOIN sessions USING (sid)'

export function createReads(db: DatabaseSync, state: LiveState): Omit<Store, 'commit' | 'check' | 'rest' | 'close'> {
  const arrays = (sql: string): StatementSync => {
    const statement = db.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  }
  const sidOf = db.prepare('SELECT sid FROM sessions WHERE id = ?')
  const entryRows = arrays(
    'SELECT first_seq, run_id, data, layout FROM entries WHERE sid = ? AND last_seq > ? ORDER BY last_seq LIMIT ?',
  )
  const head = db.prepare('SELECT max(last_seq) AS head FROM entries WHERE sid = ?')
  const sessionById = db.prepare('SELECT * FROM sessions WHERE id = ?')
  const sessionByAlias = db.prepare('SELECT * FROM sessions WHERE owner = ? AND alias = ?')
  const sessionLists = new Map<string, StatementSync>()
  /** One statement for each combination of what is asked for. */
  function listSessions({ owner, label, unlisted = false, limit, before }: SessionQuery) {
    const conditions = ["status <> 'terminated'"]
    const values: (string | number)[] = []
    if (!unlisted) conditions.push('unlisted = 0')
    if (owner !== undefined) {
      conditions.push('owner = ?')
      values.push(owner)
    }
    if (label === null) conditions.push('label IS NULL')
    else if (label !== undefined) {
      conditions.push('label = ?')
      values.push(label)
    }
    if (before !== undefined) {
      conditions.push('(last_activity, id) < (?, ?)')
      values.push(before.lastActivity, before.id)
    }
    const sql = `SELECT ${LISTED_COLUMNS} FROM sessions WHERE ${conditions.join(' AND ')} ORDER BY last_activity DESC, id DESC LIMIT ?`
    const statement = sessionLists.get(sql) ?? db.prepare(sql)
    sessionLists.set(sql, statement)
    return statement.all(...values, limit)
  }
  const countSince = db.prepare(
    `SELECT count(*) AS n FROM sessions WHERE last_activity >= ? AND status <> 'terminated'`,
  )
  const toCompact = db.prepare(
    `SELECT id FROM sessions INDEXED BY sessions_uncompacted WHERE compacted = 0 AND last_activity < ? AND status <> 'terminated'
     AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.${OPEN})
     ORDER BY +last_activity LIMIT ?`,
  )
  const runById = db.prepare(`SELECT ${RUN_COLUMNS} WHERE runs.id = ?`)
  const runByWire = db.prepare(
    `SELECT ${RUN_COLUMNS} WHERE sid = (SELECT sid FROM sessions WHERE id = ?) AND wire_id = ?`,
  )
  const ownersRun = db.prepare(`SELECT ${RUN_COLUMNS} WHERE runs.owner = ? AND wire_id = ? ORDER BY rid DESC LIMIT 1`)
  const sessionRuns = db.prepare(
    `SELECT ${RUN_COLUMNS} WHERE sid = (SELECT sid FROM sessions WHERE id = ?) ORDER BY rid`,
  )
  const latestRuns = db.prepare(
    `SELECT ${SUMMARY_COLUMNS} WHERE runs.sid + 0 = (SELECT sid + 0 FROM sessions WHERE id = ?1)
     AND (?2 IS NULL OR rid < (SELECT rid FROM runs WHERE id = ?2)) ORDER BY rid DESC LIMIT ?3`,
  )
  const openRuns = db.prepare(
    `SELECT ${RUN_COLUMNS} WHERE sid = (SELECT sid FROM sessions WHERE id = ?) AND runs.${OPEN} ORDER BY runs.status = 'queued', rid`,
  )
  // A continuation runs before what was queued earlier.
  // The + keeps the planner from walking all runs that ever were in their order.
  const orphans = db.prepare(
    `SELECT ${RUN_COLUMNS}
     WHERE runs.${OPEN} AND (
       (runs.status = 'running' AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.owner = runs.lease_owner AND until > ?1))
       OR (runs.status = 'queued' AND NOT EXISTS (
             SELECT 1 FROM runs AS before WHERE before.sid = runs.sid AND before.${OPEN} AND (before.rid < runs.rid OR before.status <> 'queued'))))
     ORDER BY +rid LIMIT ?2`,
  )
  const shown = 'SELECT * FROM messages WHERE sid = ?1 AND superseded_by IS NULL AND lane IS NULL'
  const newestMessages = db.prepare(`${shown} ORDER BY mid DESC LIMIT ?2`)
  const olderMessages = db.prepare(
    `${shown} AND mid < (SELECT mid FROM messages WHERE sid = ?1 AND id = ?3) ORDER BY mid DESC LIMIT ?2`,
  )
  // The + keeps the planner on the index of lanes: most sessions have none.
  const asides = db.prepare(
    `SELECT * FROM messages WHERE sid = ?1 AND lane IS NOT NULL AND superseded_by IS NULL
     AND +mid > ?2 AND +mid < ifnull((SELECT mid FROM messages WHERE sid = ?1 AND id = ?3), 9e18) ORDER BY +mid DESC LIMIT ?4`,
  )
  const laneMessages = db.prepare(
    'SELECT * FROM messages WHERE sid = (SELECT sid FROM sessions WHERE id = ?) AND lane = ? AND superseded_by IS NULL ORDER BY mid DESC LIMIT ?',
  )
  const everyMessage = db.prepare(
    'SELECT * FROM messages WHERE sid = (SELECT sid FROM sessions WHERE id = ?1) ORDER BY mid',
  )
  const known = db.prepare(
    'SELECT * FROM messages WHERE sid = (SELECT sid FROM sessions WHERE id = ?1) AND id IN (SELECT value FROM json_each(?2)) ORDER BY mid',
  )

  const marks = db.prepare(
    `SELECT id, lane, superseded_by FROM messages
     WHERE sid = (SELECT sid FROM sessions WHERE id = ?1) AND id IN (SELECT value FROM json_each(?2)) ORDER BY mid`,
  )
  const laterUserMessage = db.prepare(
    `SELECT 1 FROM messages WHERE sid = ?1 AND superseded_by IS NULL AND lane IS NULL AND role = 'user' AND mid > (SELECT mid FROM messages WHERE sid = ?1 AND id = ?2) LIMIT 1`,
  )

  const sid = (sessionId: string): number | null => {
    const live = state.sessions.get(sessionId)
    if (live !== undefined) return live.sid
    const row = sidOf.get(sessionId)
    return row === undefined ? null : Number(row.sid)
  }

  return {
    ...createWaitReads(db),
    ...createFileReads(db),

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
      // A row can hold an event of several megabytes.
      const rowsAtOnce = limit === 1 || maxChars !== Number.POSITIVE_INFINITY ? 1 : 16
      while (!isEnough()) {
        const rows = entryRows.all(id, after, rowsAtOnce) as unknown as [number, string | null, string, string | null][]
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

    async head(sessionId) {
      const live = state.sessions.get(sessionId)
      if (live !== undefined) return live.head
      const id = sid(sessionId)
      return id === null ? 0 : Number(head.get(id)?.head ?? 0)
    },

    async session(id) {
      const row = sessionById.get(id)
      return row === undefined ? null : toSession(row)
    },
    async sessionByAlias(owner, alias) {
      const row = sessionByAlias.get(owner, alias)
      return row === undefined ? null : toSession(row)
    },
    async sessions(query) {
      return listSessions(query).map(toSession)
    },
    async countSessions(since) {
      return Number(countSince.get(since)?.n ?? 0)
    },
    async sessionsToCompact(before, limit) {
      return toCompact.all(before, limit).map((row) => String(row.id))
    },

    async run(id) {
      const row = runById.get(id)
      return row === undefined ? null : toRun(row)
    },
    async runByWireId(sessionId, wireId) {
      const row = runByWire.get(sessionId, wireId)
      return row === undefined ? null : toRun(row)
    },
    async ownersRun(owner, wireId) {
      const row = ownersRun.get(owner, wireId)
      return row === undefined ? null : toRun(row)
    },
    async runs(sessionId) {
      return sessionRuns.all(sessionId).map(toRun)
    },
    async latestRuns(sessionId, limit, before) {
      return latestRuns.all(sessionId, before ?? null, limit).map(toRunSummary)
    },
    async openRuns(sessionId) {
      return openRuns
        .all(sessionId)
        .map(toRun)
        .filter((run) => !isFinished(run.status))
    },
    async orphans(now, limit) {
      return orphans.all(now, limit).map(toRun)
    },

    async messages(sessionId, limit, before, maxChars = Number.POSITIVE_INFINITY, withAsides = false) {
      const id = sid(sessionId)
      if (id === null) return []
      const values = before === undefined ? [id, limit] : [id, limit, before]
      const statement = before === undefined ? newestMessages : olderMessages
      const found: Row[] = []
      let chars = 0
      for (const row of statement.iterate(...values)) {
        found.push(row)
        chars += charsOf(row)
        if (chars >= maxChars) break
      }
      const oldest = found.at(-1)
      if (withAsides && oldest !== undefined) {
        let asideChars = 0
        for (const row of asides.iterate(id, Number(oldest.mid), before ?? null, MOST_ASIDES)) {
          found.push(row)
          asideChars += charsOf(row)
          if (asideChars >= MOST_ASIDE_CHARS) break
        }
        found.sort((a, b) => Number(b.mid) - Number(a.mid))
      }
      return found.reverse().map(toMessage)
    },
    async laneMessages(sessionId, lane, limit) {
      return laneMessages.all(sessionId, lane, limit).map(toMessage).reverse()
    },
    async allMessages(sessionId) {
      return everyMessage.all(sessionId).map(toMessage)
    },
    async knownMessages(sessionId, ids) {
      return ids.length === 0 ? [] : known.all(sessionId, JSON.stringify(ids)).map(toMessage)
    },
    async messageMarks(sessionId, ids) {
      return ids.length === 0 ? [] : marks.all(sessionId, JSON.stringify(ids)).map(toMark)
    },
    async userSpokeAfter(sessionId, messageId) {
      const id = sid(sessionId)
      return id !== null && laterUserMessage.get(id, messageId) !== undefined
    },
  }
}

const charsOf = ({ content, extra }: Row): number => String(content).length + String(extra ?? '').length
