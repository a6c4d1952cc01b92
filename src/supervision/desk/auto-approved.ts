// Work that a policy let through: every piece is in the audit trail, and the session's log sums it up at the interval of the policy.

import type { Clock } from '../../domain/clock.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import { present } from '../../domain/present.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Reach } from '../reach.ts'
import { noticeEvent } from '../sessions/session-events.ts'
import type { SupervisedSession, TakeStep } from '../sessions/take-step.ts'
import { createPolicySummary, type PolicySummary } from '../workspace-policy/policy-summary.ts'
import type { PolicyRequest } from '../workspace-policy/workspace-policy.ts'
import type { WorkJudgement } from './judge-work.ts'

export interface AutoApproved {
  /** Counts a piece of work for the next summary. */
  add(session: SupervisedSession, request: PolicyRequest, judgement: WorkJudgement): void
  /** Writes the summaries that are left. */
  close(): Promise<void>
}

interface AutoApprovedDeps {
  takeStep: TakeStep
  clock: Clock
  ids: Ids
  logger: Logger
  /** Tells the session's chat. */
  tell: Reach['tell']
}

interface Counted {
  summary: PolicySummary
  reporting: WorkJudgement['reporting']
  cancel: (() => void) | null
}

export function createAutoApproved({ takeStep, clock, ids, logger, tell }: AutoApprovedDeps): AutoApproved {
  const counted = new Map<string, Counted>()

  async function write(sessionId: string, lines: readonly string[] | null): Promise<void> {
    if (lines === null) return
    try {
      const { session } = await takeStep(sessionId, ({ at }) => ({
        result: null,
        events: [noticeEvent(ids.uuid(), 'auto_approved', { summary: lines.join('\n') }, at)],
      }))
      tell(session, lines.join('\n'))
    } catch (error) {
      // The audit trail has every piece of it.
      logger.warn('a summary of auto-approved work was not written', { session_id: sessionId, error })
    }
  }

  function newCount(sessionId: string): Counted {
    const count: Counted = { summary: createPolicySummary(() => count.reporting), reporting: null, cancel: null }
    counted.set(sessionId, count)
    return count
  }

  function writeWhenDue(sessionId: string, count: Counted): void {
    const dueAt = count.summary.dueAt()
    if (dueAt === null || count.cancel !== null) return
    count.cancel = clock.after(Math.max(dueAt - clock.now(), 0), () => {
      count.cancel = null
      const lines = count.summary.due(clock.now())
      // The wall clock was set back, or the interval is longer now.
      if (lines === null) return writeWhenDue(sessionId, count)
      counted.delete(sessionId)
      void write(sessionId, lines)
    })
  }

  return {
    add(session, { toolName, filePath, command }, { matchedRule, reporting }) {
      const count = counted.get(session.id) ?? newCount(session.id)
      count.reporting = reporting
      count.summary.add({ at: clock.now(), toolName, filePath, command, rule: matchedRule ?? '' })
      writeWhenDue(session.id, count)
    },
    async close() {
      const left = [...counted]
      counted.clear()
      for (const [sessionId, { summary, cancel }] of left) {
        cancel?.()
        await write(sessionId, summary.rest())
      }
    },
  }
}

/** The record of one piece of work that a policy let through. */
export const autoApprovedRecord = (
  { id, agent }: SupervisedSession,
  { toolName, filePath, command, riskLevel }: PolicyRequest,
  rule: string | null,
  { at, call, approval }: { at: number; call: string; approval: string | null },
): AuditRecord => ({
  at,
  kind: 'auto_approved',
  by: 'policy',
  session: id,
  run: null,
  agent,
  tool: toolName,
  call,
  details: present({
    tool: toolName,
    file_path: filePath,
    command,
    risk: riskLevel,
    rule,
    approval: approval ?? undefined,
  }),
})
