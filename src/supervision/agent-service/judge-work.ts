// Whether the policy of a workspace lets work through without asking.

import { type Risk, risks } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { present } from '../../domain/present.ts'
import { toolEffect } from '../../hosts/tool-effect.ts'
import type { Messenger } from '../messenger.ts'
import { activityEvent } from '../sessions/session-events.ts'
import { about, type SessionParts, type SupervisedSession } from '../sessions/take-step.ts'
import { judgeEffective, type Reporting, reportingOf } from '../workspace-policy/effective-policy.ts'
import { accessOf, type Judgement, type PolicyLimits } from '../workspace-policy/judge-request.ts'
import type { PolicyRequest } from '../workspace-policy/workspace-policy.ts'
import type { AgentService } from './agent-service.ts'
import type { AskingDeps } from './ask-approval.ts'
import { OUTSIDE, workspacePath } from './host-tools.ts'
import type { LookAtPolicy } from './policy-questions.ts'

/** Grants nothing by itself. A policy file that nobody has accepted becomes a question of its own. */
export type JudgeWork = (session: SupervisedSession, request: PolicyRequest) => Promise<WorkJudgement>

export interface WorkJudgement extends Judgement {
  /** How work that was let through is reported. */
  reporting: Reporting | null
}

interface JudgeDeps extends Pick<SessionParts, 'takeStep' | 'ids' | 'logger'> {
  lookAtPolicy: LookAtPolicy
  limits: PolicyLimits
  tell: Messenger['tell']
}

/** Warnings that were given, so that each is given once. */
const REMEMBERED = 1_000

export function createJudgeWork(deps: JudgeDeps): JudgeWork {
  const { takeStep, lookAtPolicy, limits, ids, logger, tell } = deps
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
      events: [activityEvent(ids.uuid(), 'policy_warning', { warning }, at)],
      audit: [about(session, at, 'server', { what: 'policy_warning', workspace: session.supervision.workspaceRoot })],
    }))
  }

  return async (session, request) => {
    const { workspaceRoot: path, channelId } = session.supervision
    const effective = await lookAtPolicy({ path, channelId }, session.owner)
    if (effective.state === 'unreadable') await warnOnce(session, effective.warning)
    return { ...judgeEffective(effective, request, limits), reporting: reportingOf(effective) }
  }
}

type CheckDeps = Pick<AskingDeps, 'answerCall' | 'judge' | 'guard' | 'assess'>

/** Whether a request would be let through. The same evaluators as for the request itself, and it grants nothing. */
export function createCheckAutoApprove(deps: CheckDeps): Pick<AgentService, 'check_auto_approve'> {
  const { answerCall, judge, guard, assess } = deps
  return {
    check_auto_approve: (call, input) =>
      answerCall(call, 'check_auto_approve', { ...input }, async ({ session }) => {
        const { tool_name: toolName, context = {} } = input
        if (!isRecord(context)) throw new ServerError('invalid_request', 'context must be an object.')
        const { file_path, command = null, risk_level: wanted = 'low' } = context
        if (toolName === '' || !isRisk(wanted)) {
          throw new ServerError('invalid_request', `Send tool_name, and a risk_level of ${risks.join(', ')}.`)
        }
        const { workspaceRoot } = session.supervision
        const filePath = file_path === undefined ? null : await workspacePath(workspaceRoot, file_path)
        if (file_path !== undefined && filePath === null) {
          return { auto_approved: false, matched_rule: null, why: OUTSIDE }
        }
        const guarded = guard({ workspaceRoot, access: accessOf(toolName), input: context, without: NO_PATHS })
        const effect = toolEffect(call.agent.host, toolName)
        const named = present({ file_path })
        const { risk, why } = await assess({
          toolName,
          effect,
          input: named,
          command,
          workspaceRoot,
          cwd: workspaceRoot,
        })
        const riskLevel = risk === 'critical' ? risk : wanted
        const judged = await judge(session, { toolName, filePath, command, riskLevel, guarded })
        const isClear = effect === 'host' || file_path !== undefined || command !== null
        if (risk === 'none' && isClear && wanted === 'low' && !judged.autoApproved)
          return { auto_approved: true, matched_rule: null, why: `Nobody is asked: it ${why}.` }
        return { auto_approved: judged.autoApproved, matched_rule: judged.matchedRule, why: judged.why }
      }),
  }
}

/** The policy itself says which commands pass. */
const NO_PATHS: ReadonlySet<string> = new Set(['command', 'risk_level'])

const isRisk = (risk: string): risk is Risk => (risks as readonly string[]).includes(risk)
