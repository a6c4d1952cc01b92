// The commands of runs that have been taken (`accept-command.ts` takes them).

import { ServerError } from '../../domain/errors.ts'
import { isFinished, type RunRecord } from '../../domain/run.ts'
import type { AppendEntries, ClaimRun, FinishRun, ReleaseRun, RequestCancel, StartRun } from '../ports/runs.ts'
import { consumeApprovals, refuseWaits, voidApproval, voidedRecord } from '../wait-change.ts'
import { type Done, type FoundRun, fenced, nothing } from './records.ts'
import { running } from './run-ownership.ts'
import type { Tables } from './tables.ts'

export interface RunCommands {
  startRun(command: StartRun): Done
  append(command: AppendEntries): Done
  finishRun(command: FinishRun): Done
  claimRun(command: ClaimRun): Done
  releaseRun(command: ReleaseRun): Done
  requestCancel(command: RequestCancel): Done
}

export function createRunCommands({ db, writer, records, ownership, waits, audit }: Tables): RunCommands {
  const sql = {
    startRun: db.prepare(
      `UPDATE runs SET status = 'running', started_at = ?, first_seq = ?, fence = ?, lease_owner = ? WHERE rid = ?`,
    ),
    finishRun: db.prepare(
      `UPDATE runs SET status = ?, finished_at = ?, first_seq = ?, last_seq = ?, usage = ?, error = ?, lease_owner = NULL WHERE rid = ?`,
    ),
    claimRun: db.prepare('UPDATE runs SET fence = ?, lease_owner = ? WHERE rid = ?'),
    releaseRun: db.prepare('UPDATE runs SET lease_owner = NULL, fence = fence + 1 WHERE rid = ?'),
    cancelRun: db.prepare('UPDATE runs SET cancel_requested = 1, last_seq = ? WHERE rid = ?'),
    setTool: db.prepare('UPDATE sessions SET last_tool = ? WHERE sid = ?'),
    setActiveAgent: db.prepare('UPDATE sessions SET active_agent = ? WHERE sid = ?'),
  }

  const findIn = (sessionId: string) => (waitId: string) => {
    const wait = waits.find(waitId)
    return wait?.sessionId === sessionId ? wait : null
  }

  function finishing(command: FinishRun): FoundRun {
    const live = ownership.find(command.runId)
    if (live !== undefined && live.record.fence === command.fence)
      return { run: live.record, rid: live.rid, sid: live.sid }
    const found = records.findRun(command.runId)
    const { status, fence } = found.run
    const isIdle = status === 'queued' || (status === 'waiting' && command.status !== 'waiting')
    if (!isIdle || fence !== command.fence) throw fenced(command.runId)
    return found
  }

  return {
    startRun(command) {
      const { run, rid, sid } = records.findRun(command.runId)
      const blocked = records.openRuns(sid).some((other) => other.status !== 'queued')
      if (run.status !== 'queued' || blocked) {
        throw new ServerError(
          'conflict',
          `Run ${run.id} cannot start: it is ${run.status}${blocked ? ' and its session is busy' : ''}.`,
        )
      }
      const firstSeq = writer.appendComplete(writer.live(run.sessionId, sid), run.id, command.start.entries)
      const record = running(run, command.leaseOwner, command.now, firstSeq)
      sql.startRun.run(command.now, firstSeq, record.fence, command.leaseOwner, rid)
      ownership.take({ rid, sid, record })
      const { session } = records.findSession(run.sessionId)
      return {
        ok: true,
        firstSeq,
        run: record,
        session: records.begin(sid, session, run.id, command.now, command.start),
      }
    },

    append(command) {
      const { sid, record } = ownership.owned(command.runId, command.fence)
      const used = command.consume === undefined ? [] : consumeApprovals(command.consume, findIn(record.sessionId))
      const live = writer.live(record.sessionId, sid)
      const firstSeq =
        command.entries.length === 0
          ? 0
          : command.sync
            ? writer.appendComplete(live, command.runId, command.entries)
            : writer.appendText(live, command.runId, command.entries)
      if (command.messages !== undefined) {
        const counted = records.insertMessages(sid, command.messages)
        if (counted > 0) records.addToCount(sid, counted)
      }
      if (command.state !== undefined) records.setState(sid, command.state)
      if (command.lastTool !== undefined) sql.setTool.run(command.lastTool, sid)
      if (command.activeAgent !== undefined) sql.setActiveAgent.run(command.activeAgent, sid)
      for (const approval of used) waits.update(approval)
      if (command.audit !== undefined) audit(command.audit)
      return { ok: true, firstSeq }
    },

    finishRun(command) {
      const { run, rid, sid } = finishing(command)
      if (command.status === 'waiting') refuseWaits(command, run, waits.find)
      const live = writer.live(run.sessionId, sid)
      const firstSeq = writer.appendComplete(live, run.id, command.entries)
      writer.seal(live)
      const ended: RunRecord = {
        ...run,
        status: command.status,
        finishedAt: command.now,
        firstSeq: run.firstSeq ?? (firstSeq === 0 ? null : firstSeq),
        // A run that waited may have others behind it by now.
        lastSeq: firstSeq === 0 && run.lastSeq !== null ? run.lastSeq : live.head,
        usage: command.usage,
        error: command.error,
        leaseOwner: null,
      }
      const error = ended.error === null ? null : JSON.stringify(ended.error)
      const usage = JSON.stringify(ended.usage)
      sql.finishRun.run(ended.status, command.now, ended.firstSeq, ended.lastSeq, usage, error, rid)
      records.touch(sid, command.now, records.insertMessages(sid, command.messages))
      if (command.status !== 'waiting') waits.interrupt(run.id, command.now)
      else for (const wait of command.waits ?? []) waits.insert(sid, { ...wait, runId: run.id })
      const unused = waits.unusedBy(run.id)
      for (const approval of unused) waits.update(voidApproval(approval, command))
      const trail = [...(command.audit ?? []), ...unused.map((approval) => voidedRecord(approval, command))]
      if (trail.length > 0) audit(trail)
      if (run.status === 'running') ownership.giveUp(run)
      return { ok: true, firstSeq, run: ended }
    },

    claimRun(command) {
      const { run, rid, sid } = records.findRun(command.runId)
      if (run.status !== 'running' || run.fence !== command.fence) throw fenced(run.id)
      const live = writer.live(run.sessionId, sid)
      const record: RunRecord = { ...run, fence: run.fence + 1, leaseOwner: command.leaseOwner }
      sql.claimRun.run(record.fence, command.leaseOwner, rid)
      ownership.take({ rid, sid, record })
      const firstSeq = writer.appendComplete(live, run.id, command.entries)
      return { ok: true, firstSeq, run: record }
    },

    releaseRun(command) {
      const { rid, sid, record } = ownership.owned(command.runId, command.fence)
      writer.seal(writer.live(record.sessionId, sid))
      sql.releaseRun.run(rid)
      ownership.giveUp(record)
      return nothing
    },

    requestCancel(command) {
      const { run, rid, sid } = records.findRun(command.runId)
      if (isFinished(run.status)) throw new ServerError('conflict', `Run ${run.id} has already ended as ${run.status}.`)
      const live = writer.live(run.sessionId, sid)
      const firstSeq = writer.appendComplete(live, run.id, command.entries)
      // One that waits has no other end to come that would say where its entries end.
      const lastSeq = run.status === 'waiting' && firstSeq > 0 ? live.head : run.lastSeq
      const record = { ...run, cancelRequested: true, lastSeq }
      sql.cancelRun.run(lastSeq, rid)
      if (ownership.find(run.id) !== undefined) ownership.take({ rid, sid, record })
      return { ok: true, firstSeq, run: record }
    },
  }
}
