import type { DatabaseSync } from 'node:sqlite'
import type { AnyRecord } from '../../../domain/records/record.ts'
import { allKinds, type RecordKind, recordKinds } from '../../../domain/records/record-kinds.ts'
import { EVERY_SESSION } from '../../packing/stored-fields.ts'
import type { GrantReads, WaitQuery, WaitReads } from '../../ports/waits.ts'
import { keepPrepared, toGrant, toWait, WAIT_COLUMNS } from './rows.ts'

export function createWaitReads(db: DatabaseSync): WaitReads {
  const waitById = db.prepare(`SELECT ${WAIT_COLUMNS} WHERE waits.id = ?`)
  const due = db.prepare(
    `SELECT ${WAIT_COLUMNS} WHERE waits.status = 'pending' AND waits.expires_at <= ? ORDER BY waits.expires_at, waits.wid LIMIT ? + 0`,
  )
  const prepared = keepPrepared(db)

  /** Lists one kind of wait, because the indexes begin with the kind. */
  function list(kind: RecordKind, query: WaitQuery): AnyRecord[] {
    const { sessionId, runId, continuationRunId, owner, status, limit, before } = query
    const conditions: string[] = []
    const values: (string | number)[] = []
    const isNarrow = sessionId !== undefined || runId !== undefined || continuationRunId !== undefined
    // A run or a session has few waits, so SQLite should use its index and not one in the order of the list.
    const column = (name: string) => (isNarrow ? `+waits.${name}` : `waits.${name}`)
    const where = (condition: string, ...bound: (string | number)[]) => {
      conditions.push(condition)
      values.push(...bound)
    }
    if (continuationRunId !== undefined) where('waits.continuation_run_id = ?', continuationRunId)
    if (runId !== undefined) where('waits.run_id = ?', runId)
    if (sessionId !== undefined) where('waits.sid = (SELECT sid FROM sessions WHERE id = ?)', sessionId)
    where(`${column('kind')} = ?`, kind)
    if (owner !== undefined) where(`${column('owner')} = ?`, owner)
    if (status !== undefined) where("waits.status = ? || ''", status)
    if (before !== undefined) where('(waits.created_at, waits.id) < (?, ?)', before.createdAt, before.id)
    const sql = `SELECT ${WAIT_COLUMNS} WHERE ${conditions.join(' AND ')} ORDER BY waits.created_at DESC, waits.id DESC LIMIT ? + 0`
    return prepared(sql)
      .all(...values, limit)
      .map(toWait)
  }

  /** Each open status is read from its index: with several at once SQLite would walk all records of the kind there ever were. */
  function listOpen(kind: RecordKind, query: WaitQuery): AnyRecord[] {
    const open: readonly AnyRecord['status'][] = recordKinds[kind].open
    const wanted = open.filter((status) => query.status === undefined || query.status === status)
    return wanted.flatMap((status) => list(kind, { ...query, status }))
  }

  return {
    async get(id) {
      const row = waitById.get(id)
      return row === undefined ? null : toWait(row)
    },
    async list(query) {
      const kinds = query.wait === undefined ? allKinds : [query.wait]
      const found = kinds.flatMap((kind) => (query.isWaiting === true ? listOpen(kind, query) : list(kind, query)))
      return found.sort(newestFirst).slice(0, query.limit)
    },
    async expired(now, limit) {
      return due.all(now, limit).map(toWait)
    },
  }
}

export function createGrantReads(db: DatabaseSync): GrantReads {
  const grantById = db.prepare('SELECT * FROM grants WHERE id = ?')
  const prepared = keepPrepared(db)

  return {
    async get(id) {
      const row = grantById.get(id)
      return row === undefined ? null : toGrant(row)
    },
    async list({ now, agent, sessionId }) {
      const conditions = ['(expires_at IS NULL OR expires_at > ?)']
      const values: (string | number)[] = [now]
      if (agent !== undefined) {
        conditions.push('agent = ?')
        values.push(agent)
      }
      if (sessionId !== undefined) {
        conditions.push('scope IN (?, ?)')
        values.push(sessionId, EVERY_SESSION)
      }
      const sql = `SELECT * FROM grants WHERE ${conditions.join(' AND ')} ORDER BY created_at, id`
      return prepared(sql)
        .all(...values)
        .map(toGrant)
    },
  }
}

const newestFirst = (a: AnyRecord, b: AnyRecord): number =>
  b.createdAt - a.createdAt || (a.id === b.id ? 0 : a.id < b.id ? 1 : -1)
