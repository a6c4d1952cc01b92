// Rules for answers and for the grants that come with them. `wait-change.ts` says how an answer changes a wait.

import { type AnyRecord, isSupervised } from '../../domain/records/record.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import type { AcceptRun } from '../ports/runs.ts'
import type { AskAgain, RevokeGrant, SettleWaits, WaitCommand } from '../ports/waits.ts'
import { conflict, findRun, findWaits } from './find-rows.ts'
import { ask, type Change, type Decision, done, type Rule, type RulesOf } from './rows.ts'
import { appliedOf, applyAnswers, auditOf, grantsOf, replaceWait, settledOf } from './wait-change.ts'

/** Adds the answered waits, the new grants and their audit records to the changes. */
export function* recordAnswers(
  changes: Change[],
  waits: ReadonlyMap<string, AnyRecord>,
  applied: readonly AnyRecord[],
  { grants, answerAudit }: Pick<AcceptRun, 'grants' | 'answerAudit'>,
): Rule<void> {
  for (const wait of applied) changes.push({ write: 'update_wait', before: waits.get(wait.id) ?? wait, wait })
  const made = new Map<string, Grant>()
  for (const grant of grantsOf(applied, grants)) {
    if (!made.has(grant.id) && !(yield* ask('hasGrant', grant.id))) made.set(grant.id, grant)
  }
  for (const grant of made.values()) changes.push({ write: 'put_grant', grant })
  const records = auditOf(applied, [...made.values()], answerAudit)
  if (records.length > 0) changes.push({ write: 'add_audit', records })
}

/** The waits that are still pending on the run after these answers, as they are now. */
export function* leftPending(runId: string, applied: readonly AnyRecord[]): Rule<AnyRecord[]> {
  const changed = new Map(applied.map((wait) => [wait.id, wait]))
  const before = yield* ask('pendingWaits', runId)
  return before.map((wait) => changed.get(wait.id) ?? wait).filter(({ status }) => status === 'pending')
}

/** Adds to the changes that a waiting run has ended. On the wire it ended when it began to wait. */
export function completeRun(changes: Change[], before: RunRecord, at: number): RunRecord {
  const run: RunRecord = { ...before, status: 'completed', finishedAt: at }
  changes.push({ write: 'update_run', before, run })
  return run
}

function* settleWaits(command: SettleWaits): Rule<Decision> {
  const { answers, now } = command
  const ids = answers.map(({ waitId }) => waitId)
  const waits = yield* findWaits(ids)
  const runs = new Map<string, RunRecord>()
  for (const wait of waits.values()) {
    // No run of ours waits for what an agent elsewhere asked, so such an answer does not count here.
    if (!isSupervised(wait)) runs.set(wait.runId, yield* findRun(wait.runId))
  }
  const isWaiting = (runId: string): boolean => runs.get(runId)?.status === 'waiting'
  const answered = applyAnswers(answers, waits, ({ runId }) => (isWaiting(runId) ? null : runId))
  const applied = appliedOf(answered)
  const changes: Change[] = []
  yield* recordAnswers(changes, waits, applied, command)
  const completed: RunRecord[] = []
  for (const run of runs.values()) {
    const isMet = run.status === 'waiting' && settledOf(applied).some(({ runId }) => runId === run.id)
    if (isMet && (yield* leftPending(run.id, applied)).length === 0) completed.push(completeRun(changes, run, now))
  }
  return {
    result: { ok: true, firstSeq: 0, answered, completed: completed[0] },
    changes,
  }
}

function* askAgain(command: AskAgain): Rule<Decision> {
  const old = yield* ask('wait', command.waitId)
  const replaced = replaceWait(old, command)
  if (replaced === null) {
    return { result: { ok: true, firstSeq: 0, answered: [{ applied: false, wait: old }] }, changes: [] }
  }
  const { before, closed, asked } = replaced
  return {
    result: { ok: true, firstSeq: 0, answered: [{ applied: true, wait: asked }] },
    changes: [
      { write: 'update_wait', before, wait: closed },
      { write: 'insert_wait', wait: asked },
      { write: 'add_audit', records: command.audit },
    ],
  }
}

function* revokeGrant({ grantId, audit }: RevokeGrant): Rule<Decision> {
  if (!(yield* ask('hasGrant', grantId))) {
    throw conflict(`There is no grant ${JSON.stringify(grantId)}. It may have been revoked or have expired.`)
  }
  return done([
    { write: 'remove_grant', id: grantId },
    { write: 'add_audit', records: [audit] },
  ])
}

export const waitRules: RulesOf<WaitCommand> = {
  settle_waits: settleWaits,
  ask_again: askAgain,
  revoke_grant: revokeGrant,
}
