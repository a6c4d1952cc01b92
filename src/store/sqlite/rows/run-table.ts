import type { DatabaseSync } from 'node:sqlite'
import { isFinished, type RunRecord } from '../../../domain/session/run.ts'
import type { RunReads } from '../../ports/runs.ts'
import type { EntryWriter } from '../entry-writer.ts'
import type { LiveState } from '../live-sessions.ts'
import { OPEN, RUN_COLUMNS, toRun, toRunSummary } from './rows.ts'

/** Writes the rows of runs, and remembers the runs that this process executes. */
export interface RunRows {
  insert(sid: number, run: RunRecord): void
  update(sid: number, before: RunRecord, run: RunRecord): void
}

export function createRunRows(db: DatabaseSync, state: LiveState, writer: EntryWriter): RunRows {
  const insert = db.prepare(
    `INSERT INTO runs (id, sid, owner, agent, wire_id, parent_run_id, status, origin, input, created_at, started_at, finished_at, usage, error, cancel_requested, first_seq, last_seq, fence, lease_owner)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const update = db.prepare(
    `UPDATE runs SET status = ?, started_at = ?, finished_at = ?, usage = ?, error = ?, cancel_requested = ?, first_seq = ?, last_seq = ?, fence = ?, lease_owner = ? WHERE id = ?`,
  )
  const isExecuted = ({ status, leaseOwner }: RunRecord): boolean => status === 'running' && leaseOwner !== null

  return {
    insert(sid, run) {
      insert.run(
        run.id,
        sid,
        run.owner,
        run.agent,
        run.wireId,
        run.parentRunId,
        run.status,
        run.origin,
        JSON.stringify(run.input),
        run.createdAt,
        run.startedAt,
        run.finishedAt,
        JSON.stringify(run.usage),
        run.error === null ? null : JSON.stringify(run.error),
        run.cancelRequested ? 1 : 0,
        run.firstSeq,
        run.lastSeq,
        run.fence,
        run.leaseOwner,
      )
      if (isExecuted(run)) state.own({ sid, record: run })
    },

    update(sid, before, run) {
      update.run(
        run.status,
        run.startedAt,
        run.finishedAt,
        JSON.stringify(run.usage),
        run.error === null ? null : JSON.stringify(run.error),
        run.cancelRequested ? 1 : 0,
        run.firstSeq,
        run.lastSeq,
        run.fence,
        run.leaseOwner,
        run.id,
      )
      if (isExecuted(run)) {
        // A run of a dead process is not ours until it is claimed.
        if (state.runs.has(run.id) || before.leaseOwner !== run.leaseOwner) state.own({ sid, record: run })
      } else if (isExecuted(before)) {
        writer.seal(writer.live(run.sessionId, sid))
        state.disown(run.id)
        state.drop(run.sessionId)
      }
    },
  }
}

const SUMMARY_COLUMNS = `runs.id, runs.owner, runs.agent, wire_id, parent_run_id, runs.status, origin, runs.created_at, started_at,
  finished_at, usage, error, cancel_requested, first_seq, last_seq, fence, lease_owner, sessions.id AS session_id
  FROM runs JOIN sessions USING (sid)`

export function createRunReads(db: DatabaseSync): RunReads {
  const runById = db.prepare(`SELECT ${RUN_COLUMNS} WHERE runs.id = ?`)
  const runByWire = db.prepare(
    `SELECT ${RUN_COLUMNS} WHERE sid = (SELECT sid FROM sessions WHERE id = ?) AND wire_id = ?`,
  )
  const ownersRun = db.prepare(`SELECT ${RUN_COLUMNS} WHERE runs.owner = ? AND wire_id = ? ORDER BY rid DESC LIMIT 1`)
  const keysRun = db.prepare(
    `SELECT ${RUN_COLUMNS} WHERE runs.id = (SELECT run_id FROM idempotency WHERE owner = ? AND key = ?)`,
  )
  const sessionRuns = db.prepare(
    `SELECT ${RUN_COLUMNS} WHERE sid = (SELECT sid FROM sessions WHERE id = ?) ORDER BY rid`,
  )
  const latestRuns = db.prepare(
    `SELECT ${SUMMARY_COLUMNS} WHERE runs.sid + 0 = (SELECT sid + 0 FROM sessions WHERE id = ?1)
     AND (?2 IS NULL OR rid < (SELECT rid FROM runs WHERE id = ?2)) ORDER BY rid DESC LIMIT ?3 + 0`,
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
     ORDER BY +rid LIMIT ?2 + 0`,
  )
  const owned = db.prepare(
    `SELECT runs.id, sessions.id AS session_id, fence, cancel_requested FROM runs JOIN sessions USING (sid)
     WHERE runs.${OPEN} AND runs.status = 'running' AND lease_owner = ?`,
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
    async byKey(owner, key) {
      const row = keysRun.get(owner, key)
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
    async owned(leaseOwner) {
      return owned.all(leaseOwner).map((row) => ({
        id: String(row.id),
        sessionId: String(row.session_id),
        fence: Number(row.fence),
        cancelRequested: row.cancel_requested === 1,
      }))
    },
  }
}
