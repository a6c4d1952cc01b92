import type { RunReads } from '../../ports/runs.ts'
import { OPEN, runColumns, summaryColumns, toOwned, toRun, toRunSummary } from '../../tables/runs.ts'
import type { Reading, Statement } from '../../tables/statement.ts'
import { sessionOfRoute, wireIds } from './route.ts'

const SUMMARY_COLUMNS = summaryColumns('runs.session')
export const RUN_COLUMNS = runColumns('runs.session')

const runsWhere = (name: string, where: string): Statement => ({
  name,
  text: `SELECT ${RUN_COLUMNS} FROM runs WHERE ${where}`,
})

export const runById = runsWhere('run_by_id', `session = ${sessionOfRoute('run', '$1')} AND id = $1`)
export const runByWireId = runsWhere('run_by_wire_id', 'session = $1 AND wire_id = $2')
const runsOfSession = runsWhere('runs_of_session', 'session = $1 ORDER BY ord')
const openRuns = runsWhere('runs_open', `session = $1 AND ${OPEN} ORDER BY status = 'queued', ord`)

const runOfOwner: Statement = {
  name: 'run_of_owner',
  text: `SELECT ${RUN_COLUMNS} FROM (
      SELECT session FROM routes WHERE kind = 'run' AND id = $2
      UNION ALL SELECT session FROM routes WHERE kind = 'wire' AND id >= $3 AND id < $4) AS found
    JOIN runs ON runs.session = found.session AND runs.wire_id = $2
    WHERE runs.owner = $1 ORDER BY runs.ord DESC LIMIT 1`,
}

const runOfKey: Statement = {
  name: 'run_of_key',
  text: `SELECT ${RUN_COLUMNS} FROM idempotency
    JOIN routes ON routes.kind = 'run' AND routes.id = idempotency.run_id
    JOIN runs ON runs.session = routes.session AND runs.id = idempotency.run_id
    WHERE idempotency.owner = $1 AND idempotency.key = $2`,
}

const newestRuns: Statement = {
  name: 'runs_newest',
  text: `SELECT ${SUMMARY_COLUMNS} FROM runs WHERE session = $1 ORDER BY ord DESC LIMIT $2`,
}

const olderRuns: Statement = {
  name: 'runs_older',
  text: `SELECT ${SUMMARY_COLUMNS} FROM runs WHERE session = $1
    AND ord < (SELECT ord FROM runs WHERE session = ${sessionOfRoute('run', '$3')} AND id = $3) ORDER BY ord DESC LIMIT $2`,
}

/**
 * Owners of running runs that have no lease. Replicas look for them every two seconds, so this must not go through the runs of those that
 * live: it jumps from owner to owner in the index `runs_owned`.
 */
const deadOwners: Statement = {
  name: 'runs_dead_owners',
  text: `WITH RECURSIVE owners AS (
      SELECT min(lease_owner) AS owner FROM runs WHERE status = 'running'
      UNION ALL
      SELECT (SELECT min(lease_owner) FROM runs WHERE status = 'running' AND lease_owner > owners.owner)
        FROM owners WHERE owner IS NOT NULL)
    SELECT owner FROM owners WHERE owner IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.owner = owners.owner AND until > $1)`,
}

/** A continuation runs before runs that were queued earlier. */
const WITHOUT_OWNER = `SELECT ${RUN_COLUMNS}, ord FROM runs WHERE status = 'running' AND lease_owner IS NULL
  UNION ALL
  SELECT ${RUN_COLUMNS}, ord FROM runs WHERE status = 'queued' AND NOT EXISTS (
    SELECT 1 FROM runs AS before WHERE before.session = runs.session AND before.${OPEN}
      AND (before.ord < runs.ord OR before.status <> 'queued'))`
const FOUND_COLUMNS = RUN_COLUMNS.replaceAll('runs.', '')

const withoutOwner: Statement = {
  name: 'runs_without_owner',
  text: `SELECT ${FOUND_COLUMNS} FROM (${WITHOUT_OWNER}) AS found ORDER BY ord LIMIT $1`,
}

/** The same, and the runs of these owners. */
const orphans: Statement = {
  name: 'runs_orphans',
  text: `SELECT ${FOUND_COLUMNS} FROM (
      SELECT theirs.* FROM unnest($2::text[]) AS dead (owner) CROSS JOIN LATERAL (SELECT ${RUN_COLUMNS}, ord FROM runs
        WHERE status = 'running' AND lease_owner = dead.owner ORDER BY ord LIMIT $1) AS theirs
      UNION ALL ${WITHOUT_OWNER}) AS found ORDER BY ord LIMIT $1`,
}

const ownedRuns: Statement = {
  name: 'runs_owned',
  text: `SELECT id, session, fence, cancel_requested FROM runs WHERE status = 'running' AND lease_owner = $1`,
}

export function createRunReads({ one, many }: Reading): RunReads {
  const ofOwner = one(runOfOwner, toRun)
  const dead = many(deadOwners, ([owner]: [string]) => owner)
  const free = many(withoutOwner, toRun)
  const freeOrTheirs = many(orphans, toRun)
  const newest = many(newestRuns, toRunSummary)
  const older = many(olderRuns, toRunSummary)

  return {
    get: one(runById, toRun),
    byWireId: one(runByWireId, toRun),
    ofOwner: (owner, wireId) => ofOwner(owner, wireId, ...wireIds(owner, wireId)),
    byKey: one(runOfKey, toRun),
    open: many(openRuns, toRun),
    async orphans(now, limit) {
      const owners = await dead(now)
      return owners.length === 0 ? free(limit) : freeOrTheirs(limit, owners)
    },
    owned: many(ownedRuns, toOwned),
    list: many(runsOfSession, toRun),
    latest: (sessionId, limit, before) =>
      before === undefined ? newest(sessionId, limit) : older(sessionId, limit, before),
  }
}
