// Rules that say which tool calls a person must approve. Plain data from agent.yaml; `supervision/` applies them.

import type { Quorum } from '../supervision/quorum.ts'

export type ApprovalRule =
  | { ask: 'never' }
  | { ask: 'always' }
  | { ask: 'risk'; atLeast: 'high' | 'critical' }
  /** Asks if one of these matches the arguments; `otherwise` decides about all other calls. */
  | { ask: 'when'; any: ArgumentConditions[]; otherwise: Otherwise }
  /** The agent's policy decides. */
  | { ask: 'policy' }

/** `default`: in a tool's rule, the agent's default rule decides; in the agent's default rule, `risk >= high` decides. */
export type Otherwise = 'run' | 'default'

/** Every named argument must match. A name may contain dots to reach inside an argument: `order.amount`. */
export type ArgumentConditions = Record<string, ArgumentCondition>

export type ArgumentCondition =
  | { equals: string | number | boolean | null }
  | { oneOf: (string | number | boolean | null)[] }
  /** A glob: `*` = any characters except `/`, `**` = any characters, `?` = one. A path is resolved before it is compared. */
  | { matches: string }
  /** A glob that treats the argument as a path, whatever its name is. */
  | { path: string }
  | { above: number }
  | { below: number }
  | { not: ArgumentCondition }

/** The first rule that matches a call decides; a call that no rule matches needs approval. */
export interface PolicyRule {
  /** Tool names or globs. */
  tools: string[]
  where: ArgumentConditions | null
  then: 'allow' | 'ask' | 'refuse'
}

export interface ApprovalSettings {
  default: ApprovalRule
  policy: PolicyRule[]
  by: AnswerableBy
  expiresSeconds: number
  /** How many operators have to say yes; absent: one. Approvals are bound to these settings, so the default must stay left out. */
  quorum?: Quorum
}

/** Who may answer: also the owner of the session, or only operators. */
export type AnswerableBy = 'owner' | 'operator'
