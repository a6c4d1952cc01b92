// When a person is asked before a tool runs. Plain data from agent.yaml; `supervision/` applies it.

export type ApprovalRule =
  | { ask: 'never' }
  | { ask: 'always' }
  | { ask: 'risk'; atLeast: 'high' | 'critical' }
  /** Where one of these fits the arguments; `otherwise` says what becomes of the rest. */
  | { ask: 'when'; any: ArgumentConditions[]; otherwise: Otherwise }
  /** As the agent's policy says. */
  | { ask: 'policy' }

/** `default`: of a tool's rule what the agent says for all, of the agent's what the risk says (`risk >= high`). */
export type Otherwise = 'run' | 'default'

/** Every named argument must fit. Names may have dots to reach inside: `order.amount`. */
export type ArgumentConditions = Record<string, ArgumentCondition>

export type ArgumentCondition =
  | { equals: string | number | boolean | null }
  | { oneOf: (string | number | boolean | null)[] }
  /** A glob: `*` stands for any characters but `/`, `**` for any at all, `?` for one. For a path, by where it leads. */
  | { matches: string }
  /** A glob for a path, whatever the argument is called. */
  | { path: string }
  | { above: number }
  | { below: number }
  | { not: ArgumentCondition }

/** The first that fits decides; a call that none fits is asked about. */
export interface PolicyRule {
  /** Names or globs of tools. */
  tools: string[]
  where: ArgumentConditions | null
  then: 'allow' | 'ask' | 'refuse'
}

export interface ApprovalSettings {
  default: ApprovalRule
  policy: PolicyRule[]
  by: AnswerableBy
  expiresSeconds: number
}

/** Who may answer: the owner of the session, or operators alone. */
export type AnswerableBy = 'owner' | 'operator'
