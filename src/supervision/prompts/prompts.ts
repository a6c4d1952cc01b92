import type { Caller } from '../../domain/decision.ts'
import type { AnyRecord, Prompt, PromptDecision, Standby } from '../../domain/records/record.ts'

/** What people answer to agents that asked what to do next. */
export interface Prompts {
  /** Throws `record_not_found`, `forbidden`, `invalid_request` (refine without a text), `record_decided`. */
  decide(by: Caller, id: string, answer: PromptAnswer): Promise<Prompt>
  /** Tells a waiting agent what to do. Throws as `decide`. */
  resume(by: Caller, id: string, answer: { instruction: string | null }): Promise<Standby>
  /** Ends a prompt or a wait whose time is over. */
  expire(wait: AnyRecord): Promise<void>
}

export interface PromptAnswer {
  decision: PromptDecision
  /** What to do instead, with `refine`. */
  instruction?: string
  reason?: string
}
