// The port through which supervision says what a call needs before it may run. `supervision/` implements it.

import type { AgentDefinition } from '../domain/agent.ts'
import type { AnswerableBy } from '../domain/approval-rule.ts'
import type { Caller, Decision } from '../domain/decision.ts'
import { ServerError } from '../domain/errors.ts'
import type { Grant } from '../domain/grant.ts'
import type { Risk } from '../domain/tool-settings.ts'
import type { Approval } from '../domain/wait.ts'
import type { BoundTool } from '../tools/tool.ts'

export interface Gate {
  judge(call: GatedCall): Promise<Verdict>
  /** The question that a person would be asked about this call, whether or not the rules want them asked. */
  question(call: GatedCall): Question
  /** The standing yes that an answer asks for. Throws `invalid_request` where it may not be given. */
  grant(request: GrantRequest): Grant
}

export interface GrantRequest {
  /** Of the new grant. */
  id: string
  approval: Approval
  /** As they will run: edited ones where the answer edited them. */
  arguments: Record<string, unknown>
  remember: NonNullable<Decision['remember']>
  by: Caller
  now: number
}

export interface GatedCall {
  agent: AgentDefinition
  tool: BoundTool
  /** Validated, with defaults. */
  arguments: Record<string, unknown>
  sessionId: string
  now: number
}

export interface Question {
  /** Names the rules and the tool: what is approved is bound to it. */
  policyVersion: string
  /** Of this call: that of its tool, or a higher one for what its arguments are. */
  risk: Risk
  answerableBy: AnswerableBy
  expiresAt: number
  title: string
  description: string
}

export type Verdict =
  /** `grant`: the standing yes that allowed it. */
  { verdict: 'run'; grant: string | null } | ({ verdict: 'ask' } & Question) | { verdict: 'refuse'; reason: string }

/** Everything runs: for engines that have nobody to ask. */
export const openGate: Gate = {
  judge: async () => ({ verdict: 'run', grant: null }),
  question: ({ agent, tool, now }) => ({
    policyVersion: '',
    risk: tool.risk,
    answerableBy: 'operator',
    expiresAt: now + agent.approval.expiresSeconds * 1_000,
    title: `Call ${tool.name}`,
    description: '',
  }),
  grant() {
    throw new ServerError('invalid_request', 'Nothing is asked here, so nothing can be remembered.')
  },
}
