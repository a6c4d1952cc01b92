// The decisions of one request, as answers that the engine commits together.

import type { Caller, Decision } from '../../domain/decision.ts'
import { ServerError } from '../../domain/errors.ts'
import { type Approval, hasExpired } from '../../domain/wait.ts'
import type { Decided, SentDecisions } from '../../engine/gate.ts'
import { createSyncedWaits } from '../../engine/waits/synced-waits.ts'
import type { AskAgain, AskAgainDeps } from './ask-again.ts'
import { decide } from './decide.ts'
import { refuseWithoutPermission, visibleApproval } from './permission.ts'

interface Asked {
  approval: Approval
  decision: Decision
}

/** Decides all or throws. See `Gate.decide`. */
export async function decideAll(
  { store, log, ids }: Pick<AskAgainDeps, 'store' | 'log' | 'ids'>,
  askAgain: AskAgain,
  { by, sessionId, decisions, at }: SentDecisions,
): Promise<Decided[]> {
  const waits = createSyncedWaits(store.waits, log)
  const asked: Asked[] = []
  for (const { waitId, ...decision } of decisions) {
    const approval = await visibleApproval(waits, by, waitId)
    if (approval.sessionId !== sessionId) {
      throw new ServerError('approval_not_found', `There is no approval ${JSON.stringify(waitId)} in this session.`)
    }
    // Only one of them would count, and the audit trail has to say which.
    if (asked.some((one) => one.approval.id === approval.id)) {
      throw new ServerError('invalid_request', `Approval ${approval.id} is answered twice here. Answer it once.`)
    }
    // A late caller decides nothing, so they need no permission: they are shown the run that went on.
    if (approval.status === 'pending') refuseWithoutPermission(by, approval)
    asked.push({ approval, decision })
  }
  await refuseChanged(askAgain, asked, at)
  const decided: Decided[] = []
  for (const { approval, decision } of asked) {
    // A client that repeats an answer is shown what came of it, also when the question was asked again under another id.
    const latest = await askAgain.latest(approval)
    const isLate = latest.status !== 'pending' || hasExpired(latest, at)
    const deps = { newId: () => ids.uuid(), findTool: (one: Approval) => askAgain.findTool(one, never) }
    decided.push(isLate ? tooLate(by, latest, at) : await decide(deps, by, latest, decision, at))
  }
  return decided
}

const never = new AbortController().signal

/** Asks all changed questions again before it throws for the first of them. */
async function refuseChanged(askAgain: AskAgain, asked: readonly Asked[], at: number): Promise<void> {
  const checks = await Promise.allSettled(
    asked
      .filter(({ approval }) => approval.status !== 'pending' || !hasExpired(approval, at))
      .map(({ approval, decision }) => askAgain.refuseChanged(approval, decision, at, never)),
  )
  for (const check of checks) if (check.status === 'rejected') throw check.reason
}

/** The store does not apply this answer, because its approval is no longer pending or has expired. */
const tooLate = (by: Caller, approval: Approval, at: number): Decided => ({
  approval,
  answer: { waitId: approval.id, at, by: by.user, outcome: { type: 'rejected', reason: null } },
  grant: null,
  audit: null,
})
