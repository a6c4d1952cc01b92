import { type AnyRecord, isSupervisedApproval } from '../../../domain/records/record.ts'
import { allKinds, recordKinds } from '../../../domain/records/record-kinds.ts'
import type { Grant } from '../../../domain/supervision/grant.ts'
import { EVERY_SESSION } from '../../packing/stored-fields.ts'
import type { GrantReads, WaitQuery, WaitReads } from '../../ports/waits.ts'
import { createNaming, type Sql, type Statement } from '../sql.ts'
import { sessionOfRoute } from './route.ts'

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

export const toWait = ([wait, id, status, sessionId, owner, runId, continuationRunId, ...rest]: WaitRow): AnyRecord => {
  const [createdAt, expiresAt, data] = rest
  return { wait, id, status, sessionId, owner, runId, continuationRunId, createdAt, expiresAt, ...JSON.parse(data) }
}

/** The column `unapplied`: an approved change that is used up and neither written nor given up. */
export const isUnapplied = (wait: AnyRecord): boolean =>
  isSupervisedApproval(wait) &&
  wait.status === 'consumed' &&
  wait.kind === 'diff' &&
  wait.supervised.appliedAt == null &&
  wait.supervised.notApplied == null

export const waitById: Statement = {
  name: 'wait_by_id',
  text: `SELECT ${WAIT_COLUMNS} FROM waits WHERE session = ${sessionOfRoute('wait', '$1')} AND id = $1`,
}

const expired: Statement = {
  name: 'waits_expired',
  text: `SELECT ${WAIT_COLUMNS} FROM waits WHERE status = 'pending' AND expires_at <= $1 ORDER BY expires_at, ord LIMIT $2`,
}

export function createWaitReads(sql: Sql): WaitReads {
  const named = createNaming('waits_list')

  return {
    async get(id) {
      const [row] = await sql.rows<WaitRow>(waitById, [id])
      return row === undefined ? null : toWait(row)
    },
    async list(query) {
      const { text, values } = listOf(query)
      return (await sql.rows<WaitRow>(named(text), values)).map(toWait)
    },
    async expired(now, limit) {
      return (await sql.rows<WaitRow>(expired, [now, limit])).map(toWait)
    },
  }
}

const ORDER = 'ORDER BY created_at DESC, id DESC'

/** One text for each combination of conditions. */
function listOf(query: WaitQuery): { text: string; values: (string | number)[] } {
  const { sessionId, runId, continuationRunId, owner, limit, before } = query
  const values: (string | number)[] = []
  const bind = (value: string | number): string => `$${values.push(value)}`
  const conditions: string[] = []
  if (sessionId !== undefined) conditions.push(`session = ${bind(sessionId)}`)
  for (const [column, id] of [
    ['run_id', runId],
    ['continuation_run_id', continuationRunId],
  ] as const) {
    if (id === undefined) continue
    const place = bind(id)
    conditions.push(`${column} = ${place}`)
    if (sessionId === undefined) conditions.push(`session = ${sessionOfRoute('run', place)}`)
  }
  if (owner !== undefined) conditions.push(`owner = ${bind(owner)}`)
  if (before !== undefined) conditions.push(`(created_at, id) < (${bind(before.createdAt)}, ${bind(before.id)})`)
  const most = bind(limit)
  const select = (kind: string) => `SELECT ${WAIT_COLUMNS} FROM waits WHERE ${[...conditions, kind].join(' AND ')}`
  // A run or a session has few waits, so they are found by it and sorted.
  if (sessionId !== undefined || runId !== undefined || continuationRunId !== undefined) {
    const kinds = partsOf(query, bind).map((part) => `(${part})`)
    return { text: `${select(`(${kinds.join(' OR ')})`)} ${ORDER} LIMIT ${most}`, values }
  }
  // The indexes begin with the kind and the status. Each part is in order, so Postgres merges their beginnings.
  const parts = partsOf(query, bind).map((part) => `(${select(part)} ${ORDER} LIMIT ${most})`)
  return { text: `SELECT * FROM (${parts.join('\nUNION ALL ')}) AS found ${ORDER} LIMIT ${most}`, values }
}

/** The conditions of kind and status, each for one range of the indexes. */
function partsOf({ wait, status, isWaiting = false }: WaitQuery, bind: (value: string) => string): string[] {
  const wanted = status === undefined ? null : bind(status)
  return (wait === undefined ? allKinds : [wait]).flatMap((kind) => {
    const ofKind = wanted === null ? `kind = '${kind}'` : `kind = '${kind}' AND status = ${wanted}`
    if (!isWaiting) return [ofKind]
    return recordKinds[kind].open.map((one) => `${ofKind} AND status = '${one}'`)
  })
}

const GRANT_COLUMNS = 'id, agent, scope, created_at, expires_at, data'
type GrantRow = [id: string, agent: string, scope: string, createdAt: number, expiresAt: number | null, data: string]

const toGrant = ([id, agent, scope, createdAt, expiresAt, data]: GrantRow): Grant => ({
  id,
  agent,
  sessionId: scope === EVERY_SESSION ? null : scope,
  createdAt,
  expiresAt,
  ...JSON.parse(data),
})

const grantById: Statement = { name: 'grant_by_id', text: `SELECT ${GRANT_COLUMNS} FROM grants WHERE id = $1` }

export function createGrantReads(sql: Sql): GrantReads {
  const named = createNaming('grants_list')

  return {
    async get(id) {
      const [row] = await sql.rows<GrantRow>(grantById, [id])
      return row === undefined ? null : toGrant(row)
    },
    async list({ now, agent, sessionId }) {
      const values: (string | number)[] = [now]
      const bind = (value: string): string => `$${values.push(value)}`
      const conditions = ['(expires_at IS NULL OR expires_at > $1)']
      if (agent !== undefined) conditions.push(`agent = ${bind(agent)}`)
      if (sessionId !== undefined) conditions.push(`scope IN (${bind(sessionId)}, ${bind(EVERY_SESSION)})`)
      const text = `SELECT ${GRANT_COLUMNS} FROM grants WHERE ${conditions.join(' AND ')} ORDER BY created_at, id`
      return (await sql.rows<GrantRow>(named(text), values)).map(toGrant)
    },
  }
}
