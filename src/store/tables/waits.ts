// Waits have columns for what queries need. `data` holds the rest.

import { type AnyRecord, isHostApproval } from '../../domain/records/record.ts'
import { allKinds, recordKinds } from '../../domain/records/record-kinds.ts'
import type { WaitQuery, WaitReads } from '../ports/waits.ts'
import { DONE_RECORD, OPEN_RECORD } from './conditions.ts'
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
  decided_at: 'bigint',
} as const

export const waitKey = (wait: AnyRecord): unknown[] => [wait.sessionId, wait.id, wait.wait, wait.createdAt]

export function waitState(record: AnyRecord): unknown[] {
  const { id, sessionId, wait, createdAt, runId, continuationRunId, owner, status, expiresAt, ...data } = record
  return [runId, continuationRunId, owner, status, expiresAt, JSON.stringify(data), isUnapplied(record), endOf(record)]
}

const endOf = (wait: AnyRecord): number | null => ('decidedAt' in wait ? wait.decidedAt : null)

/** An approved change that is used up and neither written nor given up. */
const isUnapplied = (wait: AnyRecord): boolean =>
  isHostApproval(wait) &&
  wait.status === 'consumed' &&
  (wait.kind === 'diff' || wait.kind === 'changes') &&
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

const SELECT_WAITS = `SELECT ${WAIT_COLUMNS}, decided_at FROM waits`
/** The same as `endedAt` of a record. Replicas of the version before leave the column empty. */
const ENDED = 'COALESCE(decided_at, created_at)'

const orderOf = ({ isDone = false }: WaitQuery): string => `${isDone ? ENDED : 'created_at'} DESC, id DESC`

function olderThan({ before, isDone = false }: WaitQuery): Condition | false {
  if (before === undefined) return false
  const { createdAt, id } = before
  if (!isDone) return ['(created_at, id) < ($, $)', createdAt, id]
  // SQLite looks up an expression in an index, and a pair with an expression not.
  return [`${ENDED} <= $ AND (${ENDED}, id) < ($, $)`, createdAt, createdAt, id]
}

function listOf(query: WaitQuery, dialect: Dialect): Query {
  const { wait, sessionId, runId, continuationRunId, owner, status, isWaiting = false, isDone = false, limit } = query
  const isNarrow = sessionId !== undefined || runId !== undefined || continuationRunId !== undefined
  // Not a bare `$`: SQLite would plan again for each value, because of the partial index `waits_due`.
  const withStatus = asked("status = $ || ''", status)
  const rest = [withStatus, isDone && ([DONE_RECORD] as const), olderThan(query)]
  if (!isNarrow) return mergedList(query, [asked(isDone ? `${LOOSE}owner = $` : 'owner = $', owner), ...rest])
  const sessionOfRun = sessionId === undefined ? dialect.sessionOf('run', '$') : null
  // A run or a session has few waits, so they are found by it and sorted.
  const conditions: (Condition | false)[] = [
    asked('continuation_run_id = $', continuationRunId),
    asked('run_id = $', runId),
    asked('session = $', sessionId),
    sessionOfRun !== null && [`session = ${sessionOfRun}`, runId ?? continuationRunId],
    asked(`${LOOSE}kind = $`, wait),
    asked(`${LOOSE}owner = $`, owner),
    isWaiting && [OPEN_RECORD],
    ...rest,
  ]
  return select(SELECT_WAITS, conditions, { order: orderOf(query), limit })
}

/** The indexes begin with the kind and the status. Each part of the list is in order, so their beginnings are merged. */
function mergedList(query: WaitQuery, conditions: readonly (Condition | false)[]): Query {
  const { wait, isWaiting = false, limit } = query
  const order = orderOf(query)
  const values: unknown[] = []
  const where = allOf(conditions, values)
  const rest = `${where === '' ? '' : ` AND ${where}`} ORDER BY ${order} LIMIT $${values.push(limit)}`
  const parts = (wait === undefined ? allKinds : [wait]).flatMap((kind) => {
    const ofKind = `${SELECT_WAITS} WHERE kind = '${kind}'`
    return isWaiting ? recordKinds[kind].open.map((one) => `${ofKind} AND status = '${one}'${rest}`) : [ofKind + rest]
  })
  if (parts.length === 1) return { text: parts.join(), values }
  const merged = parts.map((part, i) => `SELECT * FROM (${part}) AS part${i}`)
  return {
    text: `SELECT * FROM (${merged.join(' UNION ALL ')}) AS found ORDER BY ${order} LIMIT $${values.length}`,
    values,
  }
}
