// Whether the policy of a workspace lets work through without asking. A policy file that no operator has accepted yet becomes a question
// of its own.

import { askedRecord } from '../../domain/approval-audit.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Quorum } from '../../domain/quorum.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import type { Store } from '../../store/store.ts'
import { withHeaders } from '../diffs/propose-change.ts'
import { unifiedDiff } from '../diffs/unified-diff.ts'
import type { Reach } from '../reach.ts'
import { noticeEvent } from '../sessions/session-events.ts'
import { about, type SessionNow, type Step, type SupervisedSession, type TakeStep } from '../sessions/take-step.ts'
import { type EffectivePolicy, judgeEffective, reportingOf } from '../workspace-policy/effective-policy.ts'
import type { Judgement, PolicyLimits } from '../workspace-policy/judge-request.ts'
import type { PolicyWatch } from '../workspace-policy/watch-policy.ts'
import type { PolicyRequest, WorkspacePolicy } from '../workspace-policy/workspace-policy.ts'
import { newApproval } from './asked-approvals.ts'

export interface WorkJudge {
  /**
   * Grants nothing by itself. Asks the session's owner, once for each text, to accept a policy file that nobody has accepted, or that
   * now allows more.
   */
  judge(session: SupervisedSession, request: PolicyRequest): Promise<WorkJudgement>
}

export interface WorkJudgement extends Judgement {
  /** How work that was let through is reported. */
  reporting: Pick<WorkspacePolicy, 'logAutoApproved' | 'summaryIntervalSeconds'> | null
}

interface JudgeDeps {
  store: Pick<Store, 'supervised' | 'waits'>
  takeStep: TakeStep
  policies: Pick<PolicyWatch, 'effective'>
  limits: PolicyLimits
  ids: Ids
  logger: Logger
  tell: Reach['tell']
  /** `timeouts.approval_seconds`, in ms. */
  approvalMs: number
  /** How many people have to say yes. Left out: one. */
  quorum?: Quorum
}

type Unaccepted = Extract<EffectivePolicy, { state: 'unpinned' | 'pinned' }>

const RECENT = 200
/** Warnings that were given, so that each is given once. */
const REMEMBERED = 1_000

export function createWorkJudge(deps: JudgeDeps): WorkJudge {
  const { store, takeStep, policies, limits, ids, logger, tell, approvalMs, quorum } = deps
  const warned = new Set<string>()

  async function warnOnce(session: SupervisedSession, warning: string): Promise<void> {
    const key = `${session.id} ${warning}`
    if (warned.has(key)) return
    warned.add(key)
    const [oldest] = warned
    if (warned.size > REMEMBERED && oldest !== undefined) warned.delete(oldest)
    logger.warn('the policy of a workspace cannot be used', { session_id: session.id, warning })
    tell(session, warning)
    await takeStep(session.id, ({ at }) => ({
      result: null,
      events: [noticeEvent(ids.uuid(), 'policy_warning', { warning }, at)],
      audit: [about(session, at, 'server', { what: 'policy_warning', workspace: session.supervision.workspaceRoot })],
    }))
  }

  /** Once for each text: it may be rejected, and that counts for the session. A question that nobody answered is asked again. */
  async function askToAccept(session: SupervisedSession, policy: Unaccepted, pinnedText: string | null): Promise<void> {
    await takeStep(session.id, async (now): Promise<Step<null>> => {
      const asked = await store.waits.list({ wait: 'approval', sessionId: session.id, limit: RECENT })
      const isAsked = asked.some(
        (one) =>
          one.wait === 'approval' &&
          one.kind === 'policy' &&
          one.supervised?.contentKey === policy.sha256 &&
          (one.status === 'pending' || one.status === 'rejected' || one.status === 'approved'),
      )
      return isAsked ? { result: null } : policyQuestion(now, policy, pinnedText)
    })
  }

  function policyQuestion(
    now: SessionNow,
    { file, sha256: hash, text }: Unaccepted,
    pinned: string | null,
  ): Step<null> {
    const { workspaceRoot } = now.session.supervision
    const diff = withHeaders(file, pinned === null ? 'create' : 'modify', unifiedDiff(pinned ?? '', text).hunks)
    const question = {
      kind: 'policy' as const,
      tool: 'policy',
      callId: hash,
      title: pinned === null ? `Accept the policy ${file}` : `Accept the wider policy ${file}`,
      description: `${pinned === null ? 'It says' : 'It was changed, and now says more about'} what agents in ${workspaceRoot} may do without asking. Until you accept it, the change allows nothing. The diff shows all of it.`,
      risk: 'critical' as const,
      digest: sha256(canonicalJson(['policy', workspaceRoot, hash])),
      arguments: JSON.stringify({ file, workspace: workspaceRoot, sha256: hash }),
      contentKey: hash,
      expiresAt: now.at + approvalMs,
    }
    const approval = newApproval(now, ids.uuid(), question, quorum)
    // Only the text that lies there now is asked about, however often the agent changes it.
    const older = now.waiting.filter((one) => one.wait === 'approval' && one.kind === 'policy')
    return {
      result: null,
      settle: older.map(({ id }) => ({ id, patch: { status: 'interrupted', decidedAt: now.at } })),
      ask: [approval],
      proposals: [{ approvalId: approval.id, diff, after: new TextEncoder().encode(text) }],
      audit: [askedRecord(approval)],
    }
  }

  return {
    async judge(session, request) {
      const { workspaceRoot } = session.supervision
      const pin = await store.supervised.pin(workspaceRoot)
      const effective = policies.effective(workspaceRoot, pin)
      if (effective.state === 'unreadable') await warnOnce(session, effective.warning)
      // A file that is switched off allows nothing, so nobody has to accept it.
      if (effective.state === 'unpinned' && effective.policy.enabled) await askToAccept(session, effective, null)
      if (effective.state === 'pinned' && effective.change.change === 'wider') {
        await askToAccept(session, effective, pin?.text ?? null)
      }
      return { ...judgeEffective(effective, request, limits), reporting: reportingOf(effective) }
    },
  }
}
