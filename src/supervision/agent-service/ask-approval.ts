// ask_approval: the agent proposes a change of one file, and a person or the policy decides.

import { type Risk, risks } from '../../domain/agent/tool-settings.ts'
import { hasCode, ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import type { SupervisedApproval } from '../../domain/records/record.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import type { Quorum } from '../../domain/supervision/quorum.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import type { Store } from '../../store/store.ts'
import { changeDigest, type ProposedChange, type proposeChange, summaryOf } from '../diffs/propose-change.ts'
import { grantUse } from '../remember/grant-elsewhere.ts'
import type { Remembered } from '../remember/remembered.ts'
import type { Assessment, AssessWorkLater, Work } from '../risk/risk.ts'
import type { Changes, SessionNow, Step } from '../sessions/take-step.ts'
import type { GuardArguments } from '../workspace/guard-arguments.ts'
import type { AgentService, ToolInputs } from './agent-service.ts'
import { shownDescription, shownTitle } from './agent-words.ts'
import type { AnswerCall, CallDeps, OpenCall } from './answer-call.ts'
import { type AskedRecords, askStep, newApproval, pendingAnswer } from './asked-records.ts'
import { type AutoApproved, autoApprovedRecord } from './auto-approved.ts'
import type { JudgeWork } from './judge-work.ts'
import { raised, weighed } from './raised-risk.ts'

/** What approvals of agents elsewhere are asked for with. */
export interface AskingDeps extends Pick<CallDeps, 'ids'> {
  answerCall: AnswerCall
  asked: AskedRecords
  judge: JudgeWork
  autoApproved: AutoApproved
  /** `timeouts.approval_seconds`, in ms. */
  approvalMs: number
  /** How many people have to say yes. */
  quorum: Quorum
  /** Real paths of files and folders that this server reads. */
  serverPaths: readonly string[]
  guard: GuardArguments
  assess: AssessWorkLater
  remembered: Remembered
}

interface AskApprovalDeps extends AskingDeps {
  store: Pick<Store, 'supervised'>
  propose: typeof proposeChange
}

type Input = ToolInputs['ask_approval']

export function createAskApproval(deps: AskApprovalDeps): Pick<AgentService, 'ask_approval'> {
  const { answerCall, asked, judge, autoApproved, store, ids, approvalMs, quorum, serverPaths, guard, propose } = deps
  const { assess, remembered } = deps

  async function ask(open: OpenCall, input: Input): Promise<SupervisedApproval> {
    const wanted = checked(input)
    const contentKey = sha256(canonicalJson(['diff', wanted.filePath, wanted.diff]))
    const known = await asked.byContent(open.session.id, 'diff', contentKey)
    if (known !== null) return known
    const { workspaceRoot } = open.session.supervision
    const { filePath, diff } = wanted
    const change = await propose({ workspaceRoot, filePath, diff, serverPaths })
    const guarded = change.protectedBecause ?? guard({ workspaceRoot, access: 'write', input: filePath })
    const work: Work = {
      toolName: 'ask_approval',
      effect: 'writes',
      input: { file_path: change.path },
      command: null,
      workspaceRoot,
      cwd: workspaceRoot,
      seen: change.protectedBecause === null ? change.path : undefined,
    }
    const floor =
      change.risk === 'critical'
        ? { risk: change.risk, why: 'changes a protected file' }
        : { risk: wanted.risk, why: 'says itself how risky it is' }
    const assessed = raised(await assess(work), { floor, isGuarded: guarded !== null, quorum, work, path: change.path })
    const { risk: riskLevel } = weighed(assessed)
    const request = { toolName: work.toolName, filePath: change.path, command: null, riskLevel, guarded }
    const judgement = await judge(open.session, request)
    const [grant = null] = await remembered.find(open.session, work, assessed)
    const step = (by: Grant | null) =>
      asked.ask(open.session.id, 'diff', contentKey, (now) => {
        const question = questionOf(now, open, { ...wanted, contentKey }, change, assessed)
        const about = { at: now.at, call: question.callId, approval: question.id }
        const use = by === null ? null : grantUse(now.session, [by], { work, assessed, ...about })
        const { autoApproved: isAllowed, matchedRule: reason } = judgement
        // A no counts before the policy, a yes after it.
        if (isAllowed && by?.effect !== 'refuse') {
          const how = { status: 'approved' as const, decidedBy: 'policy', decidedVia: 'policy', reason }
          return decided(question, change, how, { audit: [autoApprovedRecord(now.session, request, reason, about)] })
        }
        return by === null ? askStep(question, change, change.path) : decided(question, change, byGrant(by), use)
      })
    // A grant that was revoked a moment ago decides nothing.
    const result = await step(grant).catch((error: unknown) => {
      if (grant !== null && hasCode(error, 'conflict')) return step(null)
      throw error
    })
    if (result.decidedBy === 'policy') autoApproved.add(open.session, request, judgement)
    return result
  }

  function questionOf(
    now: SessionNow,
    { callId }: OpenCall,
    wanted: Wanted & { contentKey: string },
    change: ProposedChange,
    assessed: Assessment,
  ) {
    const { title, description, contentKey } = wanted
    const question = {
      kind: 'diff' as const,
      tool: 'ask_approval',
      callId,
      title,
      description,
      ...weighed(assessed),
      digest: changeDigest(change),
      arguments: JSON.stringify({ file_path: change.path, risk_level: wanted.risk }),
      contentKey,
      change: summaryOf(change),
      beforeHash: change.beforeHash,
      afterHash: change.afterHash,
      expiresAt: now.at + approvalMs,
    }
    return newApproval(now, ids.uuid(), question, quorum)
  }

  return {
    ask_approval: (call, input) =>
      answerCall(call, 'ask_approval', { ...input }, async (open) => {
        const { request_id: id } = input
        const record = id === undefined ? await ask(open, input) : await asked.byId(open.session, 'diff', id)
        const retryWith = { request_id: record.id }
        const answer = await asked.answered(open, record, 'Waiting for an operator to approve the change.', retryWith)
        if (answer.status === 'pending') return pendingAnswer('ask_approval', retryWith)
        await asked.handOut(open, answer)
        const { isEdited } = answer.supervised
        const proposal = isEdited && isGiven(answer) ? await store.supervised.proposal(answer.id) : null
        const told = answerOf(answer)
        return proposal === null ? told : { ...told, edited: true, diff: proposal.diff }
      }),
  }
}

/** No card: the policy or somebody in advance has decided. The record is what `accept_diff` uses up. */
function decided(
  question: SupervisedApproval,
  { diff, after }: ProposedChange,
  how: Pick<SupervisedApproval, 'status' | 'decidedBy' | 'decidedVia' | 'reason'>,
  trail: Pick<Changes, 'uses' | 'audit'> | null,
): Step<SupervisedApproval> {
  const result = { ...question, ...how, decidedAt: question.createdAt }
  return { result, ask: [result], proposals: [{ approvalId: question.id, diff, after }], ...trail }
}

const byGrant = ({ grantedBy: decidedBy, effect }: Grant) =>
  effect === 'refuse'
    ? {
        ...{ status: 'rejected' as const, decidedBy, decidedVia: 'grant' },
        reason: 'Changes like this one were refused in advance.',
      }
    : { status: 'approved' as const, decidedBy, decidedVia: 'grant', reason: null }

interface Wanted {
  title: string
  description: string
  diff: string
  filePath: string
  risk: Risk
}

function checked({
  title = '',
  description = '',
  diff,
  file_path: filePath = '',
  risk_level: risk = 'low',
}: Input): Wanted {
  const refuse = (message: string): never => {
    throw new ServerError('invalid_request', message)
  }
  if (title.trim() === '') refuse('Send a title: what the change does, in a few words.')
  if (filePath === '') refuse('Send file_path: the file that changes, relative to the workspace.')
  if (diff === undefined) return refuse('Send diff: a unified diff, or the whole new text of the file.')
  if (!risks.includes(risk)) refuse(`risk_level must be one of ${risks.join(', ')}.`)
  return { title: shownTitle(title), description: shownDescription(description), diff, filePath, risk }
}

const isGiven = ({ status }: SupervisedApproval): boolean => status === 'approved' || status === 'consumed'

/** In the words of the tool. */
function answerOf(record: SupervisedApproval): Record<string, unknown> {
  const { id, decidedBy, reason } = record
  const isRule = decidedBy === 'policy'
  const told = present({ request_id: id, reason: isRule ? undefined : (reason ?? undefined) })
  switch (record.status) {
    case 'approved':
    case 'consumed': {
      const rule = isRule ? { matched_rule: reason } : {}
      const used = record.status === 'consumed'
      const message = used
        ? 'This change was approved and already written. Do not write it again.'
        : `Approved. Write it now: call accept_diff with {"request_id":"${id}"}. Do not write the file in another way.`
      return { status: 'approved', ...told, ...rule, message }
    }
    case 'rejected':
      return {
        status: 'rejected',
        ...told,
        message: 'Your operator refused this change. Do not make it in another way.',
      }
    case 'expired':
      return {
        status: 'timeout',
        ...told,
        message:
          'Nobody answered in time, so it counts as refused. It was not a person’s no: ask again when it still matters.',
      }
    default:
      return {
        status: 'cancelled',
        ...told,
        message: 'The session ended before anybody answered. Nothing was decided.',
      }
  }
}
