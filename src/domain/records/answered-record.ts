// How an answer changes a record that waits for it, whoever waits: a run of ours, or an agent elsewhere. The rules of the store apply it,
// so two people who answer at once are counted one after the other.

import { present } from '../present.ts'
import type { Yes } from '../supervision/quorum.ts'
import { type AnyRecord, type Approval, isSupervised, type WaitAnswer } from './record.ts'

/** `takenBy`: the run that continues with the answer. Null if the answer came too late or does not fit this kind of record. */
export function answeredRecord(record: AnyRecord, answer: WaitAnswer, takenBy: string | null): AnyRecord | null {
  const { outcome, at, by, via = null } = answer
  if (record.status !== 'pending') return null
  if (outcome.type !== 'expired' && record.expiresAt !== null && at >= record.expiresAt) return null
  if (record.wait === 'client_call') {
    if (outcome.type === 'answered')
      return { ...record, status: 'answered', answeredAt: at, continuationRunId: takenBy }
    return outcome.type === 'expired' ? { ...record, status: 'expired', continuationRunId: takenBy } : null
  }
  if (record.wait !== 'approval') return null
  const decided = { ...record, decidedAt: at, decidedBy: by, decidedVia: via, continuationRunId: takenBy }
  switch (outcome.type) {
    case 'approved': {
      // Nothing runs because of a question, so there is nothing to approve.
      if (record.kind === 'question') return null
      const { quorum = 1, supervised } = record
      const decisions = quorum === 1 ? [] : withYes(record, answer)
      if (decisions === null) return null
      if (decisions.length > 0 && decisions.length < quorum) return { ...record, decisions }
      // One who does not want the file overwritten is enough.
      const mayForce = (quorum === 1 ? [outcome.yes] : decisions).every((one) => one?.force === true)
      return {
        ...decided,
        ...present({
          decisions: decisions.length === 0 ? undefined : decisions,
          supervised: supervised && { ...supervised, mayForce },
        }),
        status: 'approved',
        reason: outcome.reason,
        // A question that is asked again may be about arguments that an earlier answer edited.
        editedArguments: outcome.editedArguments ?? record.editedArguments,
        digest: outcome.editedDigest ?? record.digest,
      }
    }
    case 'rejected':
      return { ...decided, status: 'rejected', reason: outcome.reason }
    case 'responded':
      // Nobody can answer in the place of a tool that an agent elsewhere calls.
      if (isSupervised(record)) return null
      return { ...decided, status: 'answered', reason: outcome.reason, response: outcome.response }
    case 'expired':
      return { ...decided, status: 'expired' }
    case 'interrupted':
      return { ...decided, status: 'interrupted' }
    default:
      return null
  }
}

/** The yeses with this one. Null if it does not count: the same person said it already, or it is to other arguments. */
function withYes({ decisions = [] }: Approval, { at, outcome }: WaitAnswer): Yes[] | null {
  if (outcome.type !== 'approved' || outcome.yes === undefined || outcome.editedDigest !== null) return null
  const { yes } = outcome
  return decisions.some((one) => one.by === yes.by) ? null : [...decisions, { ...yes, at }]
}
