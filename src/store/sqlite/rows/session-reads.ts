import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { SessionQuery, SessionReads } from '../../ports/sessions.ts'
import { OPEN, prepareSessions, readSession } from './rows.ts'

export function createSessionReads(db: DatabaseSync): SessionReads {
  const sessionById = prepareSessions(db, 'id = ?')
  const sessionByAlias = prepareSessions(db, 'owner = ? AND alias = ?')
  const sessionLists = new Map<string, StatementSync>()
  /** Prepares one statement for each combination of conditions. */
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
    const where = `${conditions.join(' AND ')} ORDER BY last_activity DESC, id DESC LIMIT ?`
    const statement = sessionLists.get(where) ?? prepareSessions(db, where, { withState: false })
    sessionLists.set(where, statement)
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

  return {
    async get(id) {
      const row = sessionById.get(id)
      return row === undefined ? null : readSession(row).session
    },
    async byAlias(owner, alias) {
      const row = sessionByAlias.get(owner, alias)
      return row === undefined ? null : readSession(row).session
    },
    async list(query) {
      return listSessions(query).map((row) => readSession(row).session)
    },
    async count(since) {
      return Number(countSince.get(since)?.n ?? 0)
    },
    async toCompact(before, limit) {
      return toCompact.all(before, limit).map((row) => String(row.id))
    },
  }
}
