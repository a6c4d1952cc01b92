// Decisions about what agents elsewhere ask for. No run of ours waits for them: the agent finds the answer in its record.

import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import {
  type AnyRecord,
  hasExpired,
  isSupervisedApproval,
  type SupervisedApproval,
} from '../../domain/records/record.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import { decisionRecord, yesRecord } from '../../domain/supervision/approval-audit.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import { ONE_PERSON, type Quorum } from '../../domain/supervision/quorum.ts'
import { noStepUp, type StepUp } from '../../domain/supervision/step-up.ts'
import { isOpen, type PolicyPin } from '../../domain/supervision/supervision.ts'
import { sha256 } from '../../json/digest.ts'
import type { Store } from '../../store/store.ts'
import {
  channelOf,
  escalatedTo,
  type Operators,
  personOf,
  refuseForeignCommand,
  viaOf,
} from '../sessions/may-command.ts'
import { noticeEvent } from '../sessions/session-events.ts'
import type { SessionNow, Step, TakeStep } from '../sessions/take-step.ts'
import { checkedCall, type Edit, type EditCheck, noProblem, problemsOf } from './check-edit.ts'
import { alreadyDecided, proofFor, refuseUncounted, refuseUnseen } from './decide.ts'
import { createChangeEdits, withArguments } from './edit-elsewhere.ts'
import { lookedAtOf } from './looked-at.ts'
import { isPartly } from './shown-call.ts'

export interface ElsewhereApprovals {
  /**
   * Throws `forbidden`, `approval_decided`, `approval_expired`, `invalid_request`, and `approval_changed` with the digest to decide on:
   * an edited change is shown once more before its yes.
   */
  decide(by: Caller, approval: SupervisedApproval, decision: Decision): Promise<SupervisedApproval>
  /** Says what would come of an edit, and changes nothing. Throws `forbidden`, `approval_decided` or `approval_expired`. */
  check(by: Caller, approval: SupervisedApproval, edit: Edit): Promise<EditCheck>
  /** Ends an approval whose time is over. Leaves every other record alone. */
  expire(wait: AnyRecord): Promise<void>
}

export interface ElsewhereDeps {
  store: Pick<Store, 'waits' | 'supervised'>
  takeStep: TakeStep
  operators: Operators
  ids: Ids
  /** Real paths of files and folders that this server reads. */
  serverPaths?: readonly string[]
  /** How many people have to say yes. Left out: one. The first no closes. */
  quorum?: Quorum
  /** Left out: nobody has a passkey. */
  stepUp?: StepUp
}

type Outcome =
  | { type: 'decided'; record: SupervisedApproval }
  | { type: 'late'; record: SupervisedApproval }
  | { type: 'edited'; record: SupervisedApproval; diff: string }

/** A longer diff is read with the approval itself. */
const MOST_DIFF_IN_ERROR = 100_000

export function createElsewhereApprovals(deps: ElsewhereDeps): ElsewhereApprovals {
  const { store, takeStep, operators, ids, serverPaths = [], quorum = ONE_PERSON, stepUp = noStepUp } = deps
  const changes = createChangeEdits({ store, serverPaths, quorum })

  async function current(id: string): Promise<SupervisedApproval> {
    const wait = await store.waits.get(id)
    if (wait !== null && isSupervisedApproval(wait)) return wait
    throw new ServerError('approval_not_found', `There is no approval ${JSON.stringify(id)}.`)
  }

  const settled = (by: Caller, now: SessionNow, record: SupervisedApproval, patch: Partial<SupervisedApproval>) => {
    const decided = { decidedAt: now.at, decidedBy: by.user, decidedVia: channelOf(by), ...patch }
    const facts = {
      approval_id: record.id,
      kind: record.kind,
      decision: patch.status,
      by: by.user,
      channel: channelOf(by),
    }
    return {
      result: { type: 'decided', record: { ...record, ...decided } } satisfies Outcome,
      // The agent is heard from again as soon as it has the answer, so its silence counts from here.
      supervision: { updatedAt: Math.max(now.at, now.session.supervision.updatedAt), silence: null },
      settle: [{ id: record.id, patch: decided }],
      events: shownIn(now, noticeEvent(ids.uuid(), 'decision', facts, now.at)),
    }
  }

  function reject(by: Caller, now: SessionNow, record: SupervisedApproval, decision: Decision) {
    const { reason = null } = decision
    const step = settled(by, now, record, { status: 'rejected', reason })
    return {
      ...step,
      audit: [
        decisionOf(record, by, 'rejected', now.at, {
          ...lookedAtOf(decision),
          ...escalatedTo(operators, by, now.session.owner),
        }),
      ],
    }
  }

  async function approve(
    by: Caller,
    now: SessionNow,
    asked: SupervisedApproval,
    decision: Decision,
  ): Promise<Step<Outcome>> {
    const { reason = null, force = false, arguments: edited } = decision
    const edits = edited === undefined ? {} : withArguments(asked, edited)
    const record = { ...asked, ...edits }
    const { decisions: given = [] } = record
    // Nobody has judged how dangerous edited arguments are. They must not get by with fewer people than the worst call.
    const worst = record.editedArguments === null ? record.risk : 'critical'
    const needed = quorum[worst]
    // An admin may decide without being one of those who count: a provider or a proxy says who is one.
    if (needed > 1) refuseUncounted(operators, by, { ...record, quorum: needed })
    const proof = await proofFor(stepUp, by, { ...asked, risk: worst }, decision)
    const decisions = [...given, { by: personOf(operators, by.user), via: channelOf(by), at: now.at, force }]
    const editedDigest = record.digest === asked.digest ? {} : { edited_digest: record.digest }
    const audit = (word: string) => [
      decisionOf(asked, by, word, now.at, {
        ...editedDigest,
        ...(isPartly(asked) && asked.supervised.change === null ? { shown_in_part: true } : {}),
        ...proof,
        ...(force ? { force } : {}),
        ...lookedAtOf(decision),
        ...escalatedTo(operators, by, now.session.owner),
      }),
    ]
    if (decisions.length < needed) {
      const patch = { ...edits, quorum: needed, decisions }
      const facts = { approval_id: record.id, by: by.user, yeses: decisions.length, needed }
      return {
        result: { type: 'decided', record: { ...record, ...patch } },
        settle: [{ id: record.id, patch }],
        events: shownIn(now, noticeEvent(ids.uuid(), 'yes', facts, now.at)),
        audit: audit('yes').map((one) => yesRecord(one, { ...record, quorum: needed, decisions })),
      }
    }
    const mayForce = decisions.every((one) => one.force)
    const supervised = { ...record.supervised, mayForce }
    const yeses = needed > 1 ? { quorum: needed, decisions } : {}
    const step = settled(by, now, record, { ...edits, status: 'approved', reason, supervised, ...yeses })
    const pin = record.kind === 'policy' ? { pin: await pinOf(by, now, record) } : {}
    return { ...step, ...pin, audit: audit('approved') }
  }

  async function pinOf(by: Caller, { session, at }: SessionNow, record: SupervisedApproval): Promise<PolicyPin> {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      (await changes.proposalOf(record)).after ?? new Uint8Array(),
    )
    return { workspaceRoot: session.supervision.workspaceRoot, sha256: sha256(text), text, at, by: by.user }
  }

  /** Null: the operator's text is the one that the record has. */
  async function edit(
    by: Caller,
    now: SessionNow,
    record: SupervisedApproval,
    content: string,
  ): Promise<Step<Outcome> | null> {
    const edited = await changes.edit(now, record, content)
    if (edited === null) return null
    const { patch, diff, proposals } = edited
    const { digest } = patch
    const facts = { approval_id: record.id, by: by.user, channel: channelOf(by), digest }
    return {
      result: { type: 'edited', record: { ...record, ...patch }, diff },
      settle: [{ id: record.id, patch }],
      proposals,
      events: [noticeEvent(ids.uuid(), 'edited', facts, now.at)],
      audit: [
        decisionOf(record, by, 'edited', now.at, {
          edited_digest: digest,
          ...escalatedTo(operators, by, now.session.owner),
        }),
      ],
    }
  }

  return {
    async check(by, approval, edit) {
      const { result } = await takeStep<EditCheck>(approval.sessionId, async (now) => {
        const record = await current(approval.id)
        refuseForeignCommand(operators, by, now.session.owner, now.at - record.createdAt)
        if (record.status !== 'pending') throw alreadyDecided(record)
        if (hasExpired(record, now.at)) throw alreadyDecided({ ...record, status: 'expired' })
        const { arguments: edited, content } = edit
        const result = await problemsOf(record, async () => {
          refuseUnfit(record, { decision: 'approve', ...edit })
          if (content !== undefined) return changes.check(now, record, content)
          return edited === undefined ? noProblem(record) : checkedCall(record, withArguments(record, edited))
        })
        return { result }
      })
      return result
    },

    async decide(by, approval, decision) {
      const { result } = await takeStep<Outcome>(approval.sessionId, async (now) => {
        // The session may have been handed over, and somebody else may have been faster.
        const record = await current(approval.id)
        refuseForeignCommand(operators, by, now.session.owner, now.at - record.createdAt)
        refuseUnseen(by, decision)
        refuseUnfit(record, decision)
        if (record.status !== 'pending') throw alreadyDecided(record)
        if (hasExpired(record, now.at)) return expired(now, record)
        const { digest, content } = decision
        if (digest !== undefined && digest !== record.digest) throw changed(record, null)
        if (decision.decision === 'reject') return reject(by, now, record, decision)
        const edits = content === undefined ? null : await edit(by, now, record, content)
        if (edits !== null) return edits
        if (decision.onlyEdit === true) throw sameText(record)
        // Somebody has edited it since the agent asked. Whoever approves it must have seen that.
        if (record.supervised.isEdited && digest === undefined) throw changed(record, null)
        return approve(by, now, record, decision)
      })
      if (result.type === 'late') throw alreadyDecided(result.record)
      if (result.type === 'edited') throw changed(result.record, result.diff)
      return result.record
    },

    async expire(wait) {
      if (!isSupervisedApproval(wait)) return
      await takeStep<Outcome | null>(wait.sessionId, async (now) => {
        const record = await current(wait.id)
        return record.status === 'pending' ? expired(now, record) : { result: null }
      })
    },
  }
}

/** A workspace that asks by itself has no agent, and so no log of one. */
const shownIn = ({ session }: SessionNow, event: RunEvent): RunEvent[] => (isOpen(session.supervision) ? [event] : [])

function expired(now: SessionNow, record: SupervisedApproval): Step<Outcome> {
  const patch = { status: 'expired', decidedAt: now.at, decidedBy: 'timeout' } as const
  return {
    result: { type: 'late', record: { ...record, ...patch } },
    supervision: { silence: { ms: 0, seenAt: now.at } },
    settle: [{ id: record.id, patch }],
    audit: [decisionRecord(record, 'timeout', 'expired', now.at)],
  }
}

function decisionOf(
  record: SupervisedApproval,
  by: Caller,
  decision: string,
  at: number,
  more: AuditRecord['details'] = {},
): AuditRecord {
  const audit = decisionRecord(record, by.user, decision, at)
  return { ...audit, details: { ...audit.details, kind: record.kind, ...viaOf(by), ...more } }
}

/** Throws `invalid_request` for what this kind of question cannot take. */
function refuseUnfit(
  record: SupervisedApproval,
  { decision, remember, arguments: edited, content, force }: Decision,
): void {
  const refuse = (message: string): never => {
    throw new ServerError('invalid_request', message, { details: { approval_id: record.id } })
  }
  if (remember !== undefined) {
    refuse(
      'What an agent elsewhere asks cannot be remembered. Write it into the workspace’s policy file instead: .quarterdeck/policy.json.',
    )
  }
  if (decision === 'respond') {
    refuse('An agent elsewhere runs its tools itself, so nobody can answer in their place. Approve or reject.')
  }
  if (decision === 'reject') return
  if (edited !== undefined && record.kind !== 'permission') {
    refuse('Only the arguments of a tool call can be edited. To edit a change, send its whole new text as `content`.')
  }
  if (edited !== undefined && isPartly(record)) {
    refuse('The arguments are too long to be kept here, so they cannot be edited. Approve or reject them as they are.')
  }
  if (content !== undefined && record.kind !== 'diff') refuse('Only a change of a file takes `content`.')
  if (force === true && record.kind !== 'diff') refuse('Only a change of a file takes `force`.')
}

const sameText = ({ id }: SupervisedApproval): ServerError =>
  new ServerError('invalid_request', 'Your text is the same as what is asked, so nothing was edited.', {
    details: { approval_id: id },
  })

function changed({ id, status, digest }: SupervisedApproval, diff: string | null): ServerError {
  const message =
    diff === null
      ? 'This approval is not what you saw: its digest is another one. Look at it again, then decide.'
      : 'Your text is kept, and nothing is decided yet. Look at the new diff, then approve it with its digest.'
  const edited = diff === null ? {} : { edited: true, ...(diff.length <= MOST_DIFF_IN_ERROR ? { diff } : {}) }
  return new ServerError('approval_changed', message, {
    details: { approval_id: id, approval_status: status, digest, ...edited },
  })
}
