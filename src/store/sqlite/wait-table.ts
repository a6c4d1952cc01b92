import type { DatabaseSync } from 'node:sqlite'
import type { Approval, Wait } from '../../domain/wait.ts'
import { interruptWait } from '../wait-change.ts'
import { toWait, waitData } from './rows.ts'

export const WAIT_COLUMNS = 'waits.*, sessions.id AS session_id FROM waits JOIN sessions USING (sid)'

export interface WaitTable {
  find(id: string): Wait | null
  insert(sid: number, wait: Wait): void
  update(wait: Wait): void
  pendingOf(runId: string): Wait[]
  /** What is pending on a run passes to another. */
  pass(fromRunId: string, toRunId: string): void
  /** Nobody can answer any more what is pending on the run. */
  interrupt(runId: string, at: number): void
  /** Approvals that were given to the run and that it has not used. */
  unusedBy(runId: string): Approval[]
  removeOfSession(sid: number): void
}

export function createWaitTable(db: DatabaseSync): WaitTable {
  const find = db.prepare(`SELECT ${WAIT_COLUMNS} WHERE waits.id = ?`)
  const insert = db.prepare(
    'INSERT INTO waits (id, sid, run_id, continuation_run_id, owner, kind, status, created_at, expires_at, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const update = db.prepare(
    'UPDATE waits SET run_id = ?, continuation_run_id = ?, status = ?, expires_at = ?, data = ? WHERE id = ?',
  )
  const pendingOf = db.prepare(
    `SELECT ${WAIT_COLUMNS} WHERE waits.run_id = ? AND +waits.status = 'pending' ORDER BY wid`,
  )
  const unusedBy = db.prepare(
    `SELECT ${WAIT_COLUMNS} WHERE waits.continuation_run_id = ? AND +waits.status = 'approved' ORDER BY wid`,
  )
  const pass = db.prepare(`UPDATE waits SET run_id = ?2 WHERE run_id = ?1 AND +status = 'pending'`)
  const removeOfSession = db.prepare('DELETE FROM waits WHERE sid = ?')

  function change(wait: Wait): void {
    const { runId, continuationRunId, status, expiresAt, id } = wait
    update.run(runId, continuationRunId, status, expiresAt, waitData(wait), id)
  }

  return {
    find(id) {
      const row = find.get(id)
      return row === undefined ? null : toWait(row)
    },
    insert(sid, wait) {
      const { id, runId, continuationRunId, owner, status, createdAt, expiresAt } = wait
      insert.run(id, sid, runId, continuationRunId, owner, wait.wait, status, createdAt, expiresAt, waitData(wait))
    },
    update: change,
    pendingOf: (runId) => pendingOf.all(runId).map(toWait),
    pass: (fromRunId, toRunId) => void pass.run(fromRunId, toRunId),
    interrupt(runId, at) {
      for (const row of pendingOf.all(runId)) change(interruptWait(toWait(row), at))
    },
    unusedBy: (runId) =>
      unusedBy
        .all(runId)
        .map(toWait)
        .filter((wait) => wait.wait === 'approval'),
    removeOfSession: (sid) => void removeOfSession.run(sid),
  }
}
