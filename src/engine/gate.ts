// The port between the engine and supervision. The engine knows runs and waits. The gate knows which calls need a person's
// approval, and turns what people decide into answers that the engine commits. `supervision/` implements it.

import type { AgentDefinition } from '../domain/agent/agent.ts'
import type { AskedQuestion } from '../domain/agent/question.ts'
import type { Logger } from '../domain/logger.ts'
import type { Approval, WaitAnswer } from '../domain/records/record.ts'
import type { AuditRecord } from '../domain/supervision/audit.ts'
import type { Caller, Decision } from '../domain/supervision/decision.ts'
import type { Grant } from '../domain/supervision/grant.ts'
import type { AgentTool, ServerTool } from '../tools/tool.ts'

export interface Gate {
  /** Decides whether a call may run now, or which approval it has to wait for. */
  judge(call: GatedCall): Promise<Verdict>
  /** The record of a question that the tool of a call asks. It commits nothing. */
  question(call: GatedCall, asked: AskedQuestion): Promise<Approval>
  /**
   * Turns the decisions of a request into answers, one for each decision and in the same order. It commits nothing, except
   * that it asks again where a tool or the rules have changed. A decision that comes too late becomes an answer that the store
   * does not apply. Throws `approval_not_found`, `forbidden`, `approval_changed`, `tool_unavailable` or `invalid_request`.
   */
  decide(sent: SentDecisions): Promise<Decided[]>
  /** Throws `approval_changed` if this approval was asked again and the new one is pending. */
  refuseReplaced(approval: Approval): Promise<void>
}

export interface GatedCall {
  agent: AgentDefinition
  tool: ServerTool | AgentTool
  /** Validated, with defaults. */
  arguments: Record<string, unknown>
  callId: string
  sessionId: string
  runId: string
  owner: string
  /** Lane of the sub-agent that makes the call; null: the agent itself. */
  lane: string | null
  /** The last approval that was asked for this call; null: none. */
  asked: Approval | null
  /** The last question that the call asked after it had begun; null: none. It was allowed to begin. */
  continues: Approval | null
  now: number
  /** Logger of the run. */
  log: Logger
}

export type Verdict =
  /** `approval` is consumed by running the call; `grant` is the one that allowed it. */
  | { verdict: 'run'; approval: Approval | null; grant: string | null }
  /** The run waits for this new approval. */
  | { verdict: 'ask'; approval: Approval }
  | { verdict: 'refuse'; reason: string }

export interface SentDecisions {
  by: Caller
  /** All approvals must belong to this session. */
  sessionId: string
  decisions: readonly (Decision & { waitId: string })[]
  at: number
}

/** An answer to a wait, with the grant and the audit record that are written if it is applied. */
export interface PreparedAnswer {
  answer: WaitAnswer
  grant: Grant | null
  /** Null: nobody decided anything. */
  audit: AuditRecord | null
}

export interface Decided extends PreparedAnswer {
  /** The approval as it was when it was decided. */
  approval: Approval
}
