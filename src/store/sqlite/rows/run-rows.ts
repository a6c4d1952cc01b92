import type { DatabaseSync } from 'node:sqlite'
import type { RunRecord } from '../../../domain/run.ts'
import type { EntryWriter } from '../entry-writer.ts'
import type { LiveState } from '../live-sessions.ts'

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
