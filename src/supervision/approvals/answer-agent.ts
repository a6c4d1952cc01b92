// An agent elsewhere waits for the approval. No run of ours does: the agent finds the answer in its record.

import { ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import { answeredRecord } from '../../domain/records/answered-record.ts'
import {
  type AnyRecord,
  type Approval,
  isSupervisedApproval,
  type SupervisedApproval,
  type WaitAnswer,
} from '../../domain/records/record.ts'
import { countedRecord, decisionRecord } from '../../domain/supervision/approval-audit.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { PolicyPin } from '../../domain/supervision/supervision.ts'
import { sha256 } from '../../json/digest.ts'
import type { Store } from '../../store/store.ts'
import { grantMade } from '../remember/grant-elsewhere.ts'
import { escalatedTo, viaOf, wayOf } from '../sessions/may-command.ts'
import { activityEvent, shownIn } from '../sessions/session-events.ts'
import type { Changes, SessionNow, SessionParts, Step } from '../sessions/take-step.ts'
import { notAsSeen } from './ask-again.ts'
import { checkedCall, noProblem, problemsOf } from './check-edit.ts'
import type { Answerer, AskedNow, Prepared } from './decide.ts'
import { type ChangeEditsDeps, createChangeEdits, withArguments } from './edit-elsewhere.ts'
import { refuseUnfit } from './refuse-decision.ts'

interface AnswerAgentDeps extends ChangeEditsDeps, Pick<SessionParts, 'takeStep' | 'operators' | 'ids'> {
  store: Pick<Store, 'waits' | 'supervised' | 'grants'>
}

/** `diff`: somebody's text is kept in place of the agent's, and nothing is decided. */
type Taken = { record: SupervisedApproval; diff: string | null }

/** A longer diff is read with the approval itself. */
const MOST_DIFF_IN_ERROR = 100_000

export function createAnswerAgent(deps: AnswerAgentDeps): Answerer {
  const { store, takeStep, operators, ids, quorum } = deps
  const changes = createChangeEdits(deps)

  /** The session may have been handed over, and somebody else may have been faster. */
  async function asked(id: string, { session, at }: SessionNow): Promise<AskedNow & { approval: SupervisedApproval }> {
    const wait = await store.waits.get(id)
    if (wait === null || !isSupervisedApproval(wait))
      throw new ServerError('approval_not_found', `There is no approval ${JSON.stringify(id)}.`)
    const { host, workspaceRoot } = session.supervision
    const grants = await store.grants.list({ agent: host, now: at })
    return { approval: wait, at, elsewhere: { owner: session.owner, workspaceRoot, grants } }
  }

  async function answered(now: SessionNow, by: Caller, prepared: Prepared): Promise<Step<Taken>> {
    const { approval, patch, answer, audit } = prepared
    const { id, kind } = approval
    const record = asAnswered({ ...approval, ...patch }, answer)
    const isLast = record.status !== 'pending'
    const grant = isLast ? prepared.grant : null
    const { quorum: needed, decisions = [] } = record
    const facts = isLast
      ? { approval_id: id, kind, decision: record.status, by: by.user, channel: wayOf(by) }
      : { approval_id: id, by: by.user, yeses: decisions.length, needed }
    return {
      result: { record, diff: null },
      // The agent is heard from again as soon as it has the answer, so its silence counts from here.
      supervision: isLast ? { updatedAt: now.at, silence: null } : {},
      settle: [{ id, patch, answer }],
      // A workspace that asks by itself has no agent, and so no log of one.
      events: shownIn(now.session, activityEvent(ids.uuid(), isLast ? 'decision' : 'yes', facts, now.at)),
      audit: audit === null ? [] : [countedRecord(audit, record), ...(grant === null ? [] : [grantMade(grant, audit)])],
      grant: grant ?? undefined,
      pin: kind === 'policy' && record.status === 'approved' ? await pinOf(by, now, record) : undefined,
    }
  }

  async function pinOf(by: Caller, { session, at }: SessionNow, record: SupervisedApproval): Promise<PolicyPin> {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      (await changes.proposalOf(record)).after ?? new Uint8Array(),
    )
    return { workspaceRoot: session.supervision.workspaceRoot, sha256: sha256(text), text, at, by: by.user }
  }

  /** Null: the operator's text is the one that the record has. */
  async function keepText(
    by: Caller,
    now: SessionNow,
    record: SupervisedApproval,
    content: string,
  ): Promise<Step<Taken> | null> {
    const edited = await changes.edit(now, record, content)
    if (edited === null) return null
    const { patch, diff, proposals } = edited
    const { digest } = patch
    const { id, kind } = record
    const audit = decisionRecord(record, by.user, 'edited', now.at)
    const how = { kind, ...viaOf(by), edited_digest: digest, ...escalatedTo(operators, by, now.session.owner) }
    return {
      result: { record: { ...record, ...patch }, diff },
      settle: [{ id, patch }],
      proposals,
      events: [
        activityEvent(ids.uuid(), 'edited', { approval_id: id, by: by.user, channel: wayOf(by), digest }, now.at),
      ],
      audit: [{ ...audit, details: { ...audit.details, ...how } }],
    }
  }

  return {
    async refuseChanged({ approval }, { decision, digest, content }) {
      if (digest !== undefined && digest !== approval.digest) throw changed(approval, null)
      // Somebody has edited it since the agent asked. Whoever approves it must have seen that.
      const isUnseen = approval.supervised?.isEdited === true && digest === undefined
      if (isUnseen && decision === 'approve' && content === undefined) throw changed(approval, null)
    },

    async edit({ approval }, { arguments: edited }) {
      if (!isSupervisedApproval(approval)) throw new Error('No agent elsewhere asked this.')
      const edits = edited === undefined ? {} : withArguments(approval, edited)
      const record = { ...approval, ...edits }
      // Nobody has judged how dangerous edited arguments are. They must not get by with fewer people than the worst call.
      const risk = record.editedArguments === null ? record.risk : 'critical'
      const needed = Math.max(quorum[risk], record.quorum ?? 1)
      return { patch: present({ ...edits, quorum: needed > 1 ? needed : undefined }), replaced: null, risk }
    },

    async answer({ id, sessionId }, { by, decision }, steps) {
      const { result } = await takeStep<Taken>(sessionId, async (now) => {
        const about = await asked(id, now)
        await steps.refuse(about)
        const { content } = decision
        if (content !== undefined && decision.decision === 'approve') {
          const kept = await keepText(by, now, about.approval, content)
          if (kept !== null) return kept
          if (decision.onlyEdit === true) throw sameText(about.approval)
          if (about.approval.supervised.isEdited && decision.digest === undefined) throw changed(about.approval, null)
        }
        return answered(now, by, await steps.prepare(about))
      })
      if (result.diff !== null) throw changed(result.record, result.diff)
      return { approval: result.record, run: null }
    },

    async check({ id, sessionId }, edit, refuseLate) {
      const { result } = await takeStep(sessionId, async (now) => {
        const about = await asked(id, now)
        await refuseLate(about)
        const { arguments: edited, content } = edit
        const result = await problemsOf(about.approval, async () => {
          refuseUnfit(about.approval, { decision: 'approve', ...edit })
          if (content !== undefined) return changes.check(now, about.approval, content)
          if (edited === undefined) return noProblem(about.approval)
          return checkedCall(about.approval, withArguments(about.approval, edited))
        })
        return { result }
      })
      return result
    },

    async expire({ id, sessionId }) {
      await takeStep(sessionId, async (now): Promise<Changes> => {
        const { approval, at } = await asked(id, now)
        if (approval.status !== 'pending') return {}
        return {
          supervision: { silence: { ms: 0, seenAt: at } },
          settle: [{ id, patch: {}, answer: { waitId: id, at, by: 'timeout', outcome: { type: 'expired' } } }],
          audit: [decisionRecord(approval, 'timeout', 'expired', at)],
        }
      })
    },
  }
}

/** As the store will have it: nobody else changes the session in the same step. */
function asAnswered(record: AnyRecord, answer: WaitAnswer): SupervisedApproval {
  const next = answeredRecord(record, answer, null)
  if (next === null || !isSupervisedApproval(next)) throw new Error('The answer does not count.')
  return next
}

const sameText = ({ id }: SupervisedApproval): ServerError =>
  new ServerError('invalid_request', 'Your text is the same as what is asked, so nothing was edited.', {
    details: { approval_id: id },
  })

function changed({ id, status, digest }: Approval, diff: string | null): ServerError {
  if (diff === null) return notAsSeen({ id, status, digest })
  return new ServerError(
    'approval_changed',
    'Your text is kept, and nothing is decided yet. Look at the new diff, then approve it with its digest.',
    {
      details: present({
        approval_id: id,
        approval_status: status,
        digest,
        edited: true,
        diff: diff.length <= MOST_DIFF_IN_ERROR ? diff : undefined,
      }),
    },
  )
}
