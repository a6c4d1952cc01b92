// accept_diff: writes a change that was approved, exactly and once. The record is used up on disk before the file changes, so a kill at any
// moment leaves the old file or the new one, and a record that says what is left to do (`apply-recovery.ts`).

import { type ErrorCode, hasCode, ServerError, sessionNotFound } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import type { SupervisedApproval } from '../../domain/records/record.ts'
import { aboutCall } from '../../domain/supervision/approval-audit.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Store } from '../../store/store.ts'
import { type AppliedChange, type ApprovedChange, appliedAs, type ChangeWriter } from '../diffs/change-writer.ts'
import { changeDigest } from '../diffs/propose-change.ts'
import { decidedText } from '../records/records.ts'
import { type Changes, isSupervisedSession, type SessionNow, type TakeStep } from '../sessions/take-step.ts'
import type { WhileWorking } from '../sessions/while-working.ts'
import type { GuardArguments } from '../workspace/guard-arguments.ts'
import type { AgentService } from './agent-service.ts'
import { type AnswerCall, type OpenCall, refuseInactive } from './answer-call.ts'
import type { AskedRecords } from './asked-records.ts'

interface AcceptDiffDeps {
  answerCall: AnswerCall
  takeStep: TakeStep
  whileWorking: WhileWorking
  asked: Pick<AskedRecords, 'byId' | 'current'>
  store: Pick<Store, 'sessions' | 'supervised'>
  writer: Pick<ChangeWriter, 'apply' | 'finish'>
  guard: GuardArguments
}

/** Errors that the person who approved a change can do something about. */
const ABOUT_THE_FILE: readonly ErrorCode[] = ['patch_conflict', 'path_violation']

export function createAcceptDiff(deps: AcceptDiffDeps): Pick<AgentService, 'accept_diff'> {
  const { answerCall, takeStep, whileWorking, asked, store, writer, guard } = deps

  async function accept(open: OpenCall, requestId: string, force: boolean): Promise<AppliedChange> {
    const record = await asked.byId(open.session, 'diff', requestId)
    refuseUnapproved(record)
    await refuseForeignSession(open, record)
    const { workspaceRoot } = open.session.supervision
    const change = await approvedChange(store, record, workspaceRoot)
    if (record.decidedBy === 'policy')
      refuseGuarded(record, guard({ workspaceRoot, access: 'write', input: change.path }))
    const mayForce = force && record.supervised.mayForce
    let isUsedByUs = false
    const beforeRename = async () => {
      await consume(open, record, mayForce)
      isUsedByUs = true
    }
    try {
      const applied = await writer.apply(change, { force: mayForce, beforeRename })
      await takeStep(record.sessionId, (now) => finished(now, record, applied))
      return applied
    } catch (error) {
      if (isUsedByUs) return await afterUse(record, change, error)
      const now = await asked.current(record.id)
      if (now.status === 'consumed') throw alreadyConsumed(now)
      const told = force && !mayForce ? withoutForce(error) : error
      if (told instanceof ServerError && ABOUT_THE_FILE.includes(told.code)) await noteRefused(now, told.message)
      throw told
    }
  }

  /** Whoever approved it sees why it is not written, and that it may still be. */
  async function noteRefused({ id, sessionId }: SupervisedApproval, why: string): Promise<void> {
    await takeStep(sessionId, async () => {
      const { status, supervised } = await asked.current(id)
      const isNews = status === 'approved' && supervised.refused !== why
      return { settle: isNews ? [{ id, patch: { supervised: { ...supervised, refused: why } } }] : [] }
    })
  }

  /** From here on the approval is used, whatever happens. */
  async function consume(open: OpenCall, { id, sessionId }: SupervisedApproval, force: boolean): Promise<void> {
    await takeStep(sessionId, async ({ at }) => {
      const record = await asked.current(id)
      refuseUnapproved(record)
      // The operator may have stopped the agent since the call began.
      const caller = await store.sessions.get(open.session.id)
      if (!isSupervisedSession(caller)) throw sessionNotFound(open.session.id)
      refuseInactive(caller)
      return {
        settle: [{ id, patch: { status: 'consumed', consumedAt: at } }],
        audit: [callRecord(record, 'call_started', at, present({ digest: record.digest, force: force || undefined }))],
      }
    })
  }

  /** The approval is used, and something failed. The file may be written all the same; otherwise the record says why it is not. */
  async function afterUse(record: SupervisedApproval, change: ApprovedChange, error: unknown): Promise<AppliedChange> {
    if ((await writer.finish(change).catch(() => 'conflict')) === 'applied') {
      const applied = appliedAs(change, [])
      await takeStep(record.sessionId, (now) => finished(now, record, applied))
      return applied
    }
    const why = error instanceof ServerError ? error.message : 'The server failed while it wrote the file.'
    await takeStep(record.sessionId, (now) => notWritten(now, record, why))
    throw error
  }

  async function refuseForeignSession({ session }: OpenCall, record: SupervisedApproval): Promise<void> {
    if (record.sessionId === session.id) return
    const status = (await store.sessions.get(record.sessionId))?.supervision?.status
    // An agent that comes back in a new session may use what was approved in the one that it lost.
    if (status === 'interrupted') return
    throw new ServerError(
      'not_approved',
      `This was approved in session ${record.sessionId}, which is ${status ?? 'gone'}. Ask for a new approval in this session.`,
      { details: { request_id: record.id } },
    )
  }

  return {
    accept_diff: (call, { request_id: requestId, force = false }) =>
      answerCall(call, 'accept_diff', { request_id: requestId, force }, async (open) => {
        const { files_written, warnings } = await whileWorking(open.session.id, () => accept(open, requestId, force))
        const more = warnings.length === 0 ? undefined : warnings
        return present({ status: 'applied', request_id: requestId, files_written, warnings: more })
      }),
  }
}

/** The bytes that were approved. Throws `invalid_diff` if they are not there, or not those of the digest. */
export async function approvedChange(
  store: Pick<Store, 'supervised'>,
  { id, digest, beforeHash, afterHash, supervised }: SupervisedApproval,
  workspaceRoot: string,
): Promise<ApprovedChange> {
  const proposal = await store.supervised.proposal(id)
  if (proposal === null || supervised.change === null || beforeHash === null || afterHash === null) {
    throw new ServerError('invalid_diff', 'The text of this approval is gone. Ask for a new one.')
  }
  const { path, kind } = supervised.change
  const change = { workspaceRoot, path, kind, beforeHash, afterHash, after: proposal.after }
  if (changeDigest(change) !== digest) {
    throw new ServerError('invalid_diff', 'The stored change is not the one that was approved. Ask for a new approval.')
  }
  return change
}

/** Throws `not_approved` or `already_consumed`. */
function refuseUnapproved(record: SupervisedApproval): void {
  const { id, status } = record
  if (status === 'approved') return
  if (status === 'consumed') throw alreadyConsumed(record)
  const message =
    status === 'pending'
      ? `Nobody has approved this yet. Call ask_approval with {"request_id":"${id}"} and wait for the answer.`
      : `This was not approved: it is ${status}${decidedText(record)}. Do not write it in another way.`
  throw new ServerError('not_approved', message, { details: { request_id: id, approval_status: status } })
}

/** The server may have begun to load the file since the policy approved the change. */
function refuseGuarded({ id }: SupervisedApproval, reason: string | null): void {
  if (reason === null) return
  const message = `${reason} The policy approved this before that was so. Ask for a new approval.`
  throw new ServerError('not_approved', message, { details: { request_id: id } })
}

function alreadyConsumed({ id, supervised }: SupervisedApproval): ServerError {
  const { notApplied, appliedAt } = supervised
  const what =
    notApplied !== undefined
      ? `it was not written: ${notApplied}`
      : appliedAt === null
        ? 'it is being written'
        : 'the file is written'
  return new ServerError(
    'already_consumed',
    `This approval counts once and was used: ${what}. Ask for a new approval if something is left to do.`,
    {
      details: { request_id: id },
    },
  )
}

const withoutForce = (error: unknown): unknown =>
  hasCode(error, 'patch_conflict')
    ? new ServerError('patch_conflict', `${error.message} The decision does not allow force.`, {
        details: { ...error.details },
      })
    : error

export const finished = ({ at }: SessionNow, record: SupervisedApproval, applied: AppliedChange): Changes => ({
  settle: [{ id: record.id, patch: { supervised: { ...record.supervised, appliedAt: at } } }],
  audit: [
    callRecord(
      record,
      'call_finished',
      at,
      present({
        status: 'applied',
        bytes: applied.files_written.reduce((sum, { bytes }) => sum + bytes, 0),
        warnings: applied.warnings.length === 0 ? undefined : applied.warnings.join(' '),
      }),
    ),
  ],
})

export const notWritten = ({ at }: SessionNow, record: SupervisedApproval, why: string): Changes => ({
  settle: [{ id: record.id, patch: { supervised: { ...record.supervised, notApplied: why } } }],
  audit: [callRecord(record, 'call_finished', at, { status: 'failed', why })],
})

const callRecord = (
  record: SupervisedApproval,
  kind: 'call_started' | 'call_finished',
  at: number,
  details: AuditRecord['details'],
): AuditRecord => ({
  at,
  kind,
  by: record.agent,
  ...aboutCall(record),
  tool: 'accept_diff',
  details: { approval: record.id, file_path: record.supervised.change?.path ?? null, ...details },
})
