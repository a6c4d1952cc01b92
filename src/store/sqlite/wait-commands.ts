// Answers to what runs wait for, and the grants that come with them.

import type { AuditRecord } from '../../domain/audit.ts'
import type { Grant } from '../../domain/grant.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { Wait, WaitAnswer } from '../../domain/wait.ts'
import type { Answered, AskAgain, RevokeGrant, SettleWaits } from '../ports/waits.ts'
import { appliedOf, applyAnswers, auditOf, grantsOf, replaceWait } from '../wait-change.ts'
import { type Done, nothing } from './records.ts'
import type { Tables } from './tables.ts'

export interface WaitCommands {
  /** What becomes of the answers; nothing is written yet. With a session, its waits alone can be answered; null: it has none yet. */
  judge(answers: readonly WaitAnswer[], takenBy: (wait: Wait) => string | null, sessionId?: string | null): Answered[]
  /** The run that took the first of them that there is, when all came too late; null when there is none. */
  earlierTaker(answered: readonly Answered[]): RunRecord | null
  /** Writes the waits as they were answered, with the grants and the records of the trail that belong to them. */
  record(applied: readonly Wait[], extras: AnswerExtras): void
  /** Ends a waiting run. */
  complete(runId: string, at: number): RunRecord
  settleWaits(command: SettleWaits): Done
  askAgain(command: AskAgain): Done
  revokeGrant(command: RevokeGrant): Done
}

export interface AnswerExtras {
  grants?: readonly Grant[]
  answerAudit?: Readonly<Record<string, AuditRecord>>
}

export function createWaitCommands({ db, records, waits, grants, audit }: Tables): WaitCommands {
  const completeRun = db.prepare(`UPDATE runs SET status = 'completed', finished_at = ? WHERE rid = ?`)

  function judge(
    answers: readonly WaitAnswer[],
    takenBy: (wait: Wait) => string | null,
    sessionId?: string | null,
  ): Answered[] {
    const find = (id: string): Wait | null => {
      const wait = waits.find(id)
      return sessionId === undefined || wait?.sessionId === sessionId ? wait : null
    }
    return applyAnswers(answers, find, takenBy)
  }

  function record(applied: readonly Wait[], extras: AnswerExtras): void {
    for (const wait of applied) waits.update(wait)
    const made = grants.insert(grantsOf(applied, extras.grants))
    audit(auditOf(applied, made, extras.answerAudit))
  }

  function complete(runId: string, at: number): RunRecord {
    const { run, rid } = records.findRun(runId)
    completeRun.run(at, rid)
    return { ...run, status: 'completed', finishedAt: at }
  }

  return {
    judge,
    record,
    complete,

    earlierTaker(answered) {
      const wait = answered.find((one) => one.wait !== null)?.wait
      return wait == null ? null : records.findRun(wait.continuationRunId ?? wait.runId).run
    },

    settleWaits({ answers, answerAudit, now }) {
      const statusOf = (wait: Wait) => records.findRun(wait.runId).run.status
      const answered = judge(answers, (wait) => (statusOf(wait) === 'waiting' ? null : wait.runId))
      const applied = appliedOf(answered)
      record(applied, answerAudit === undefined ? {} : { answerAudit })
      const left = [...new Set(applied.map(({ runId }) => runId))].filter(
        (runId) => records.findRun(runId).run.status === 'waiting' && waits.pendingOf(runId).length === 0,
      )
      const [completed] = left.map((runId) => complete(runId, now))
      return { ok: true, firstSeq: 0, answered, ...(completed === undefined ? {} : { completed }) }
    },

    askAgain(command) {
      const old = waits.find(command.waitId)
      const replaced = replaceWait(old, command)
      if (replaced === null) return { ok: true, firstSeq: 0, answered: [{ applied: false, wait: old }] }
      waits.update(replaced.closed)
      waits.insert(records.findRun(replaced.asked.runId).sid, replaced.asked)
      audit(command.audit)
      return { ok: true, firstSeq: 0, answered: [{ applied: true, wait: replaced.asked }] }
    },

    revokeGrant({ grantId, audit: revoked }) {
      grants.remove(grantId)
      audit([revoked])
      return nothing
    },
  }
}
