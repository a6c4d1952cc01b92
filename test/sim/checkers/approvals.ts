// P8, P9, P10: what may not run unasked ran only as a person allowed it; the first answer won, and whoever was told so did win.

import { type Approval, isHostApproval } from '../../../src/domain/records/record.ts'
import { callDigest } from '../../../src/json/digest.ts'
import type { Checker, Evidence } from '../evidence.ts'
import type { ToolStart } from '../history.ts'
import { gatedTools } from '../sim-tools.ts'
import { auditRecords } from './audit.ts'

export const approvals: Checker = {
  name: 'approvals',
  check: (evidence) => {
    const all = [...evidence.waits.values()].filter(
      (wait): wait is Approval => wait.wait === 'approval' && !isHostApproval(wait),
    )
    const byCall = Map.groupBy(all, ({ callId }) => callId)
    const granted = grantedIn(evidence)
    const { toolStarts, deletions } = evidence.history
    return [
      ...toolStarts
        .filter(({ sessionId }) => !deletions.includes(sessionId))
        .flatMap((start) => checkStart(start, byCall.get(start.callId) ?? [], granted)),
      ...checkWinners(evidence),
      ...[...byCall.values()].flatMap(checkAskedAgain),
      ...all.flatMap((approval) => checkOne(evidence, approval)),
    ]
  },
}

interface Granted {
  /** Calls that a standing yes allowed. */
  calls: ReadonlySet<string>
  /** Tools that there was one for. Of a call that only looks there is no record that says what allowed it. */
  tools: ReadonlySet<string>
}

function grantedIn(evidence: Evidence): Granted {
  const given = new Set(
    evidence.history.decisions.filter(({ remember }) => remember).map(({ approvalId }) => approvalId),
  )
  const records = auditRecords(evidence)
  const made = records.filter(({ kind, details }) => kind === 'grant_made' && given.has(String(details.approval)))
  const ids = new Set(made.map(({ details }) => details.grant))
  const allowed = records.filter(({ kind, details }) => kind === 'call_started' && ids.has(details.grant ?? ''))
  return { calls: new Set(allowed.map(({ call }) => call ?? '')), tools: new Set(made.map(({ tool }) => tool)) }
}

function checkStart(start: ToolStart, asked: readonly Approval[], granted: Granted): string[] {
  const { tool, callId } = start
  const what = `${tool} (${callId})`
  const refused = asked.find((one) => one.status === 'rejected' || one.status === 'expired' || isBrokenOff(one, asked))
  if (refused !== undefined) return [`${what} was started, and its approval is ${refused.status}`]
  if (!gatedTools.has(tool) || granted.calls.has(callId)) return []
  if (start.effect === 'read' && granted.tools.has(tool)) return []
  const used = asked.filter(({ status }) => status === 'consumed')
  const [approval] = used
  if (approval === undefined)
    return [`${what} was started, and nobody allowed it: ${asked.map(({ status }) => status)}`]
  if (used.length > 1) return [`${what} has used up ${used.length} approvals`]
  const { policyVersion, digest } = approval
  const fits = callDigest({ callId, tool, arguments: JSON.parse(start.arguments), policyVersion }) === digest
  return fits ? [] : [`${what} was started with ${start.arguments}, which approval ${approval.id} is not for`]
}

/** A yes that did not fit any more is over too, but then somebody was asked again. */
const isBrokenOff = (one: Approval, asked: readonly Approval[]): boolean =>
  one.status === 'interrupted' && (one.decidedBy === null || one === asked.at(-1))

/** Somebody said yes, whatever became of it. */
const isGiven = (one: Approval): boolean =>
  one.status === 'approved' ||
  one.status === 'consumed' ||
  (one.status === 'interrupted' && one.decidedBy !== null && !isReplaced(one))

function checkWinners({ history, waits }: Evidence): string[] {
  const byApproval = Map.groupBy(history.decisions, ({ approvalId }) => approvalId)
  return [...byApproval].flatMap(([id, attempts]) => {
    const won = attempts.filter((attempt) => attempt.won === true)
    const [winner] = won
    if (winner === undefined) return []
    if (won.length > 1) return [`approval ${id} was won by ${won.map(({ by }) => by).join(' and ')}`]
    const wait = waits.get(id)
    if (wait === undefined) {
      return history.deletions.includes(winner.sessionId) ? [] : [`approval ${id} is gone, and ${winner.by} decided it`]
    }
    if (wait.wait !== 'approval') return [`approval ${id} is a ${wait.wait}`]
    const { status, decidedBy, editedArguments } = wait
    const isKept = winner.decision === 'reject' ? status === 'rejected' : isGiven(wait)
    // One that was asked again may be about what an earlier answer edited.
    const isEdited = winner.edited === null || editedArguments === winner.edited
    return isKept && decidedBy === winner.by && isEdited
      ? []
      : [`${winner.by} won with ${winner.decision}; approval ${id} is ${status} by ${decidedBy}, ${editedArguments}`]
  })
}

/** A second question about a call is right only when the rules are other ones than at the first. */
function checkAskedAgain(asked: readonly Approval[]): string[] {
  return asked.flatMap((approval, i) => {
    const before = asked[i - 1]
    if (before === undefined) return []
    const { callId, tool } = approval
    if (!isReplaced(before) && (before.status !== 'interrupted' || !isGiven(before)))
      return [`${tool} (${callId}) was asked about again after it was ${before.status}`]
    return before.policyVersion === approval.policyVersion
      ? [`${tool} (${callId}) was asked about again under the same rules`]
      : []
  })
}

/** Asked again before anybody had answered. */
const isReplaced = ({ status, decidedBy }: Approval): boolean => status === 'interrupted' && decidedBy === 'change'

function checkOne({ runs, waits }: Evidence, approval: Approval): string[] {
  const { id, status, runId, callId, decidedAt, expiresAt, continuationRunId } = approval
  const problems: string[] = []
  const run = runs.get(runId)
  if (status === 'pending' && run?.status !== 'waiting' && run?.status !== 'running') {
    problems.push(`approval ${id} is pending, and its run ${runId} is ${run?.status}`)
  }
  const isAnswered = status === 'approved' || status === 'consumed' || status === 'rejected'
  if (isAnswered && decidedAt !== null && expiresAt !== null && decidedAt >= expiresAt) {
    problems.push(`approval ${id} was ${status} after its time`)
  }
  // Approved, and the run that was to carry it out went well: then it did, or somebody was asked again.
  const taker = runs.get(continuationRunId ?? '')
  const isAskedAgain = [...waits.values()].some((other) => other.callId === callId && other.id !== id)
  if (isGiven(approval) && status !== 'consumed' && taker?.status === 'completed' && !isAskedAgain) {
    problems.push(`approval ${id} was given, run ${taker.id} is completed, and the call was forgotten`)
  }
  if (status === 'approved' && taker?.status !== 'running') {
    problems.push(`approval ${id} is approved for ever: run ${taker?.id}, which was to use it, is ${taker?.status}`)
  }
  return problems
}
