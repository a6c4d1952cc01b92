import type { DatabaseSync } from 'node:sqlite'
import { isFinished } from '../../../domain/run.ts'
import type { RunReads } from '../../ports/runs.ts'
import { OPEN, RUN_COLUMNS, toRun, toRunSummary } from './rows.ts'

const SUMMARY_COLUMNS = `runs.id, runs.owner, runs.agent, wire_id, parent_run_id, runs.status, origin, runs.created_at, started_at,
  finished_at, usage, error, cancel_requested, first_seq, last_seq, fence, lease_owner, sessions.id AS session_id
  FROM runs JOIN sessions USING (sid)`

export function createRunReads(db: DatabaseSync): RunReads {
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
  // A continuation runs before runs that were queued earlier.
  // The + keeps SQLite from scanning all runs in their order.
  const orphans = db.prepare(
    `SELECT ${RUN_COLUMNS}
     WHERE runs.${OPEN} AND (
       (runs.status = 'running' AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.owner = runs.lease_owner AND until > ?1))
       OR (runs.status = 'queued' AND NOT EXISTS (
             SELECT 1 FROM runs AS before WHERE before.sid = runs.sid AND before.${OPEN} AND (before.rid < runs.rid OR before.status <> 'queued'))))
     ORDER BY +rid LIMIT ?2`,
  )

  return {
    async get(id) {
      const row = runById.get(id)
      return row === undefined ? null : toRun(row)
    },
    async byWireId(sessionId, wireId) {
      const row = runByWire.get(sessionId, wireId)
      return row === undefined ? null : toRun(row)
    },
    async ofOwner(owner, wireId) {
      const row = ownersRun.get(owner, wireId)
      return row === undefined ? null : toRun(row)
    },
    async list(sessionId) {
      return sessionRuns.all(sessionId).map(toRun)
    },
    async latest(sessionId, limit, before) {
      return latestRuns.all(sessionId, before ?? null, limit).map(toRunSummary)
    },
    async open(sessionId) {
      return openRuns
        .all(sessionId)
        .map(toRun)
        .filter((run) => !isFinished(run.status))
    },
    async orphans(now, limit) {
      return orphans.all(now, limit).map(toRun)
    },
  }
}
