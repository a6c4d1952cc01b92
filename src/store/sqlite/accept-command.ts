// Takes a run into a session: a new one, the continuation of one that waits, or one that was there already.

import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Wait, WaitAnswer } from '../../domain/wait.ts'
import type { AcceptRun } from '../ports/runs.ts'
import type { Answered } from '../ports/waits.ts'
import { refuseFiles } from '../sendable-files.ts'
import { appliedOf, approvalPending, passedOn, resultsOf, waitNotFound, withTakenResults } from '../wait-change.ts'
import type { Done, OpenRun } from './records.ts'
import { toRun, toSession } from './rows.ts'
import { running } from './run-ownership.ts'
import { RUN_COLUMNS } from './run-reads.ts'
import type { Tables } from './tables.ts'
import type { WaitCommands } from './wait-commands.ts'

/** What this run goes on from: the waiting run that it completed. */
type Continuation = Pick<Done, 'completed' | 'answered'>

export function createAcceptCommand(tables: Tables, waiting: WaitCommands): (command: AcceptRun) => Done {
  const { db, writer, records, ownership, waits, files } = tables
  const sql = {
    countSessions: db.prepare(`SELECT count(*) AS n FROM sessions WHERE status <> 'terminated'`),
    runByWire: db.prepare(`SELECT ${RUN_COLUMNS} WHERE sid = ? AND wire_id = ?`),
    key: db.prepare('SELECT digest, run_id, expires_at FROM idempotency WHERE owner = ? AND key = ?'),
    putKey: db.prepare(
      'INSERT OR REPLACE INTO idempotency (owner, key, digest, run_id, expires_at) VALUES (?, ?, ?, ?, ?)',
    ),
  }

  function findByKey({ run, idempotency }: AcceptRun): RunRecord | null {
    if (idempotency === undefined) return null
    const key = sql.key.get(run.owner, idempotency.key)
    if (key === undefined || Number(key.expires_at) <= run.createdAt) return null
    if (key.digest !== idempotency.digest) {
      throw new ServerError(
        'idempotency_mismatch',
        'This Idempotency-Key was used with another request body. Use a new key for a new request.',
      )
    }
    return records.findRun(String(key.run_id)).run
  }

  const existing = (run: RunRecord, answered?: readonly Answered[]): Done => ({
    ok: true,
    firstSeq: 0,
    existing: true,
    run,
    session: records.findSession(run.sessionId).session,
    ...(answered === undefined ? {} : { answered }),
  })

  /** Nothing is written for it: what it would answer stays as it is. */
  function repeated(command: AcceptRun, run: RunRecord): Done {
    if (command.answers === undefined) return existing(run)
    const answered = command.answers.map(({ waitId }) => {
      const wait = waits.find(waitId)
      return { applied: false, wait: wait?.sessionId === run.sessionId ? wait : null }
    })
    return existing(run, answered)
  }

  function withMetadata(sid: number, session: SessionRecord, patch: AcceptRun['metadata']): SessionRecord {
    if (patch === undefined) return session
    const metadata = { ...session.metadata, ...patch }
    records.setMetadata(sid, metadata)
    return { ...session, metadata }
  }

  function refuseBeyond(maxSessions: number | null): void {
    if (maxSessions !== null && Number(sql.countSessions.get()?.n) >= maxSessions) {
      throw new ServerError('too_many_sessions', `The server holds ${maxSessions} sessions, its limit.`)
    }
  }

  function refuseBusy(command: AcceptRun, open: readonly OpenRun[]): void {
    if (open.length === 0) return
    if (command.onBusy === 'reject') {
      throw new ServerError('run_in_progress', 'The session is busy with another run.')
    }
    if (open.filter((other) => other.status === 'queued').length >= command.maxQueued) {
      throw new ServerError('queue_full', `${command.maxQueued} runs already wait in this session.`)
    }
  }

  /** Gives up what the session waits for. Throws where that is a person's answer, or not wanted. */
  function abandon({ run, whenWaiting }: AcceptRun, waitingRun: string): RunRecord {
    const asks = waits.pendingOf(waitingRun).some(({ wait }) => wait === 'approval')
    if (whenWaiting === 'refuse' || asks) throw approvalPending(waitingRun)
    waits.interrupt(waitingRun, run.createdAt)
    return waiting.complete(waitingRun, run.createdAt)
  }

  /** Completes the waiting run, for this one to go on; or gives the run that has the answers, or took them earlier. */
  function takeAnswers(
    command: AcceptRun,
    [first, ...others]: readonly [WaitAnswer, ...WaitAnswer[]],
    sessionId: string | null,
    waitingRun: string | undefined,
  ): Continuation | { taker: RunRecord; answered: readonly Answered[] } {
    const { run, start } = command
    const takenBy = (wait: Wait) => (wait.runId === waitingRun ? run.id : wait.runId)
    const answered = waiting.judge([first, ...others], takenBy, sessionId)
    const applied = appliedOf(answered)
    const owner = applied[0]?.runId
    if (owner === undefined) {
      const taker = waiting.earlierTaker(answered)
      if (taker === null) throw waitNotFound(first)
      return { taker, answered }
    }
    waiting.record(applied, command)
    if (owner !== waitingRun) {
      const { run: taker, sid } = records.findRun(owner)
      const results = resultsOf(start.messages, applied, taker.id)
      records.touch(sid, run.createdAt, records.insertMessages(sid, results))
      return { taker, answered }
    }
    waits.pass(owner, run.id)
    return { completed: waiting.complete(owner, run.createdAt), answered: passedOn(answered, owner, run.id) }
  }

  return (command) => {
    const { run, idempotency } = command
    const [answer, ...moreAnswers] = command.answers ?? []
    const earlier = findByKey(command)
    if (earlier !== null) return repeated(command, earlier)

    const { id, alias, owner } = command.session
    const row = records.sessionRow(id) ?? (alias === null ? undefined : records.sessionRowByAlias(owner, alias))
    if (row !== undefined && (row.owner !== run.owner || row.status === 'terminated')) throw sessionNotFound(id)
    if (row === undefined) refuseBeyond(command.maxSessions)
    else {
      const same = sql.runByWire.get(Number(row.sid), run.wireId)
      if (same !== undefined) return repeated(command, toRun(same))
    }

    refuseFiles(command.files ?? [], files.find, run.owner, row === undefined ? null : String(row.id))

    const open = row === undefined ? [] : records.openRuns(Number(row.sid))
    const waitingRun = open.find((other) => other.status === 'waiting')?.id
    let continuation: Continuation = {}
    if (answer !== undefined) {
      const sessionId = row === undefined ? null : String(row.id)
      const taken = takeAnswers(command, [answer, ...moreAnswers], sessionId, waitingRun)
      if ('taker' in taken) return existing(taken.taker, taken.answered)
      continuation = taken
    } else if (waitingRun !== undefined) {
      continuation = { completed: abandon(command, waitingRun) }
    } else {
      refuseBusy(command, open)
    }

    const sid = row === undefined ? records.insertSession(command.session) : Number(row.sid)
    const session = withMetadata(sid, row === undefined ? command.session : toSession(row), command.metadata)
    const queued: RunRecord = {
      ...run,
      sessionId: session.id,
      status: 'queued',
      fence: 0,
      leaseOwner: null,
      firstSeq: null,
      lastSeq: null,
    }
    if (idempotency !== undefined) {
      sql.putKey.run(run.owner, idempotency.key, idempotency.digest, run.id, idempotency.expiresAt)
    }
    files.attach(command.files ?? [], sid)
    const live = writer.live(session.id, sid)
    const { acceptEntries } = command
    const start = withTakenResults(command.start, continuation.answered)
    if (open.length > 0 && continuation.completed === undefined) {
      const firstSeq = writer.appendComplete(live, run.id, acceptEntries)
      records.insertRun(sid, queued)
      records.setActivity(sid, run.createdAt)
      const lastActivity = Math.max(session.lastActivity, run.createdAt)
      return { ok: true, firstSeq, existing: false, run: queued, session: { ...session, lastActivity } }
    }
    const firstSeq = writer.appendComplete(live, run.id, [...acceptEntries, ...start.entries])
    const record = running(queued, command.leaseOwner, run.createdAt, firstSeq + acceptEntries.length)
    ownership.take({ rid: records.insertRun(sid, record), sid, record })
    return {
      ok: true,
      firstSeq,
      existing: false,
      run: record,
      session: records.begin(sid, session, run.id, run.createdAt, start),
      ...continuation,
    }
  }
}
