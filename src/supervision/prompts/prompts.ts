import type { Caller } from '../../domain/decision.ts'
import type { InstructionWait, Prompt, PromptDecision, Wait } from '../../domain/wait.ts'

/** What people answer to agents that asked what to do next. */
export interface Prompts {
  /** Throws `record_not_found`, `forbidden`, `invalid_request` (refine without a text), `record_decided`. */
  decide(by: Caller, id: string, answer: PromptAnswer): Promise<Prompt>
  /** Tells a waiting agent what to do. Throws as `decide`. */
  resume(by: Caller, id: string, answer: { instruction: string | null }): Promise<InstructionWait>
  /** Ends a prompt or a wait whose time is over. */
  expire(wait: Wait): Promise<void>
}

export interface PromptAnswer {
  decision: PromptDecision
  /** What to do instead, with `refine`. */
  instruction?: string
  reason?: string
}
