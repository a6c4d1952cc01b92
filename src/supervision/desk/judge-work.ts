// Whether the policy of a workspace lets work through without asking.

import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Reach } from '../reach.ts'
import { noticeEvent } from '../sessions/session-events.ts'
import { about, type SupervisedSession, type TakeStep } from '../sessions/take-step.ts'
import { judgeEffective, reportingOf } from '../workspace-policy/effective-policy.ts'
import type { Judgement, PolicyLimits } from '../workspace-policy/judge-request.ts'
import type { PolicyRequest, WorkspacePolicy } from '../workspace-policy/workspace-policy.ts'
import type { PolicyQuestions } from './policy-questions.ts'

export interface WorkJudge {
  /** Grants nothing by itself. A policy file that nobody has accepted becomes a question of its own. */
  judge(session: SupervisedSession, request: PolicyRequest): Promise<WorkJudgement>
}

export interface WorkJudgement extends Judgement {
  /** How work that was let through is reported. */
  reporting: Pick<WorkspacePolicy, 'logAutoApproved' | 'summaryIntervalSeconds'> | null
}

interface JudgeDeps {
  takeStep: TakeStep
  questions: PolicyQuestions
  limits: PolicyLimits
  ids: Ids
  logger: Logger
  tell: Reach['tell']
}

/** Warnings that were given, so that each is given once. */
const REMEMBERED = 1_000

export function createWorkJudge(deps: JudgeDeps): WorkJudge {
  const { takeStep, questions, limits, ids, logger, tell } = deps
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

  return {
    async judge(session, request) {
      const { workspaceRoot: path, channelId } = session.supervision
      const effective = await questions.look({ path, channelId }, session.owner)
      if (effective.state === 'unreadable') await warnOnce(session, effective.warning)
      return { ...judgeEffective(effective, request, limits), reporting: reportingOf(effective) }
    },
  }
}
