// Waits have columns for what queries need. `data` holds the rest.

import { type AnyRecord, isSupervisedApproval } from '../../domain/records/record.ts'
import { allKinds, recordKinds } from '../../domain/records/record-kinds.ts'
import type { WaitQuery, WaitReads } from '../ports/waits.ts'
import { OPEN_RECORD } from './conditions.ts'
import {
  allOf,
  asked,
  type Condition,
  type Dialect,
  LOOSE,
  type Query,
  type Reading,
  type Statement,
  select,
  withId,
} from './statement.ts'

export const WAIT_COLUMNS =
  'kind, id, status, session, owner, run_id, continuation_run_id, created_at, expires_at, data'
export type WaitRow = [
  kind: string,
  id: string,
  status: string,
  session: string,
  owner: string,
  runId: string,
  continuationRunId: string | null,
  createdAt: number,
  expiresAt: number | null,
  data: string,
]

export function toWait(row: WaitRow): AnyRecord {
  const [wait, id, status, sessionId, owner, runId, continuationRunId, createdAt, expiresAt, data] = row
  return { wait, id, status, sessionId, owner, runId, continuationRunId, createdAt, expiresAt, ...JSON.parse(data) }
}

/** Columns of a wait that never change, and those of its state, in the order of `waitKey` and `waitState`. */
export const waitKeyColumns = { session: 'text', id: 'text', kind: 'text', created_at: 'bigint' } as const
export const waitStateColumns = {
  run_id: 'text',
  continuation_run_id: 'text',
  owner: 'text',
  status: 'text',
  expires_at: 'bigint',
  data: 'text',
  unapplied: 'boolean',
} as const

export const waitKey = (wait: AnyRecord): unknown[] => [wait.sessionId, wait.id, wait.wait, wait.createdAt]

export function waitState(record: AnyRecord): unknown[] {
  const { id, sessionId, wait, createdAt, runId, continuationRunId, owner, status, expiresAt, ...data } = record
  return [runId, continuationRunId, owner, status, expiresAt, JSON.stringify(data), isUnapplied(record)]
}

/** An approved change that is used up and neither written nor given up. */
const isUnapplied = (wait: AnyRecord): boolean =>
  isSupervisedApproval(wait) &&
  wait.status === 'consumed' &&
  wait.kind === 'diff' &&
  wait.supervised.appliedAt == null &&
  wait.supervised.notApplied == null

export const unappliedWaits: Statement = {
  name: 'waits_unapplied',
  text: `SELECT ${WAIT_COLUMNS} FROM waits WHERE unapplied ORDER BY created_at, id LIMIT $1`,
}

export const waitById = (dialect: Dialect): Statement => ({
  name: 'wait_by_id',
  text: `SELECT ${WAIT_COLUMNS} FROM waits WHERE ${withId(dialect, 'wait')}`,
})

const expired: Statement = {
  name: 'waits_expired',
  text: `SELECT ${WAIT_COLUMNS} FROM waits WHERE status = 'pending' AND expires_at <= $1 ORDER BY expires_at, ord LIMIT $2`,
}

export function createWaitReads({ dialect, one, many, list }: Reading): WaitReads {
  const found = list('waits_list', toWait)
  return {
    get: one(waitById(dialect), toWait),
    list: (query) => found(listOf(query, dialect)),
    expired: many(expired, toWait),
  }
}

const SELECT_WAITS = `SELECT ${WAIT_COLUMNS} FROM waits`
const ORDER = 'created_at DESC, id DESC'

function listOf(query: WaitQuery, dialect: Dialect): Query {
  const { wait, sessionId, runId, continuationRunId, owner, status, isWaiting = false, limit, before } = query
  const isNarrow = sessionId !== undefined || runId !== undefined || continuationRunId !== undefined
  // Not a bare `$`: SQLite would plan again for each value, because of the partial index `waits_due`.
  const withStatus = asked("status = $ || ''", status)
  const olderThan: Condition | false = before !== undefined && [
    '(created_at, id) < ($, $)',
    before.createdAt,
    before.id,
  ]
  if (!isNarrow) return mergedList(query, [asked('owner = $', owner), withStatus, olderThan])
  const sessionOfRun = sessionId === undefined ? dialect.sessionOf('run', '$') : null
  // A run or a session has few waits, so they are found by it and sorted.
  const conditions: (Condition | false)[] = [
    asked('continuation_run_id = $', continuationRunId),
    asked('run_id = $', runId),
    asked('session = $', sessionId),
    sessionOfRun !== null && [`session = ${sessionOfRun}`, runId ?? continuationRunId],
    asked(`${LOOSE}kind = $`, wait),
    asked(`${LOOSE}owner = $`, owner),
    withStatus,
    isWaiting && [OPEN_RECORD],
    olderThan,
  ]
  return select(SELECT_WAITS, conditions, { order: ORDER, limit })
}

/** The indexes begin with the kind and the status. Each part of the list is in order, so their beginnings are merged. */
function mergedList({ wait, isWaiting = false, limit }: WaitQuery, conditions: readonly (Condition | false)[]): Query {
  const values: unknown[] = []
  const where = allOf(conditions, values)
  const rest = `${where === '' ? '' : ` AND ${where}`} ORDER BY ${ORDER} LIMIT $${values.push(limit)}`
  const parts = (wait === undefined ? allKinds : [wait]).flatMap((kind) => {
    const ofKind = `${SELECT_WAITS} WHERE kind = '${kind}'`
    return isWaiting ? recordKinds[kind].open.map((one) => `${ofKind} AND status = '${one}'${rest}`) : [ofKind + rest]
  })
  if (parts.length === 1) return { text: parts.join(), values }
  const merged = parts.map((part, i) => `SELECT * FROM (${part}) AS part${i}`)
  return {
    text: `SELECT * FROM (${merged.join(' UNION ALL ')}) AS found ORDER BY ${ORDER} LIMIT $${values.length}`,
    values,
  }
}
