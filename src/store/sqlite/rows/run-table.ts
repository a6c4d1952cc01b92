import type { RunRecord } from '../../../domain/session/run.ts'
import type { RunReads } from '../../ports/runs.ts'
import { isExecuted } from '../../rules/run-rules.ts'
import {
  OPEN,
  runColumns,
  runFactColumns,
  runFacts,
  runState,
  runStateColumns,
  summaryColumns,
  toOwned,
  toRun,
  toRunSummary,
} from '../../tables/runs.ts'
import { insertRow, type Reading } from '../../tables/statement.ts'
import type { EntryWriter } from '../entry-writer.ts'
import type { LiveState } from '../live-sessions.ts'
import type { Statements } from '../statements.ts'

/** Writes the rows of runs, and remembers the runs that this process executes. */
export function createRunRows({ run: prepare }: Statements, state: LiveState, writer: EntryWriter) {
  const columns = Object.keys({ sid: null, ...runFactColumns, ...runStateColumns })
  const sets = Object.keys(runStateColumns).map((column, i) => `${column} = $${i + 2}`)
  const insert = prepare(insertRow('runs', columns.join(', ')).text)
  const update = prepare(`UPDATE runs SET ${sets.join(', ')} WHERE id = $1`)

  return {
    insert(sid: number, run: RunRecord, mayHaveWaits: boolean): void {
      insert(sid, ...runFacts(run), ...runState(run))
      if (isExecuted(run)) state.own({ sid, record: run, mayHaveWaits })
    },

    update(sid: number, before: RunRecord, run: RunRecord): void {
      update(run.id, ...runState(run))
      if (isExecuted(run)) {
        // A run of a dead process is not ours until it is claimed.
        const live = state.runs.get(run.id)
        if (live === undefined && before.leaseOwner === run.leaseOwner) return
        state.own({ sid, record: run, mayHaveWaits: live?.mayHaveWaits ?? true })
      } else if (isExecuted(before)) {
        writer.seal(writer.live(run.sessionId, sid))
        state.disown(run.id)
        state.drop(run.sessionId)
      }
    },
  }
}

const FROM = 'FROM runs JOIN sessions USING (sid)'
const SELECT_RUN = `SELECT ${runColumns('sessions.id')} ${FROM}`

export const RUN_BY_ID = `${SELECT_RUN} WHERE runs.id = $1`
/** `$1` is the number of the session. */
export const RUN_BY_WIRE_ID = `${SELECT_RUN} WHERE sid = $1 AND wire_id = $2`

export function createRunReads({ one, many }: Reading): RunReads {
  const run = (name: string, where: string) => one({ name, text: `${SELECT_RUN} WHERE ${where}` }, toRun)
  const runs = (name: string, where: string) => many({ name, text: `${SELECT_RUN} WHERE ${where}` }, toRun)
  const ofSession = 'sid = (SELECT sid FROM sessions WHERE id = $1)'

  return {
    get: one({ name: 'run_by_id', text: RUN_BY_ID }, toRun),
    byWireId: run('run_by_wire_id', `${ofSession} AND wire_id = $2`),
    ofOwner: run('run_of_owner', 'runs.owner = $1 AND wire_id = $2 ORDER BY rid DESC LIMIT 1'),
    byKey: run('run_of_key', 'runs.id = (SELECT run_id FROM idempotency WHERE owner = $1 AND key = $2)'),
    list: runs('runs_of_session', `${ofSession} ORDER BY rid`),
    latest: many(
      {
        name: 'runs_latest',
        text: `SELECT ${summaryColumns('sessions.id')} ${FROM} WHERE runs.sid + 0 = (SELECT sid + 0 FROM sessions WHERE id = $1)
          AND ($3 IS NULL OR rid < (SELECT rid FROM runs WHERE id = $3)) ORDER BY rid DESC LIMIT $2`,
      },
      toRunSummary,
    ),
    // A continuation runs before runs that were queued earlier.
    open: runs('runs_open', `${ofSession} AND runs.${OPEN} ORDER BY runs.status = 'queued', rid`),
    // The + keeps SQLite from scanning all runs in their order.
    orphans: runs(
      'runs_orphans',
      `runs.${OPEN} AND (
         (runs.status = 'running' AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.owner = runs.lease_owner AND until > $1))
         OR (runs.status = 'queued' AND NOT EXISTS (
               SELECT 1 FROM runs AS before WHERE before.sid = runs.sid AND before.${OPEN} AND (before.rid < runs.rid OR before.status <> 'queued'))))
       ORDER BY +rid LIMIT $2`,
    ),
    owned: many(
      {
        name: 'runs_owned',
        text: `SELECT runs.id, sessions.id, fence, cancel_requested ${FROM} WHERE runs.${OPEN} AND runs.status = 'running' AND lease_owner = $1`,
      },
      toOwned,
    ),
  }
}
