// A test case of an agent file: what is said to it and what must come of it. `quarterdeck test` runs them.

export interface TestCase {
  name: string
  /** What the user says, turn by turn. The checks look at the whole, `expect` at the last answer. */
  turns: string[]
  /** Absolute paths of files sent with the first turn. */
  files: string[]
  /** Calls that must be made, in this order, others may lie between; arguments that are named must be equal. */
  tools: { name: string; arguments: Record<string, unknown> | null }[]
  /** No other tools may be called. */
  onlyTheseTools: boolean
  /** What a person answers when the agent wants to call a tool. Of one tool in order; the last answers all that follow. */
  approvals: CaseApproval[]
  checks: TestCheck[]
  timeoutMs: number
}

export interface CaseApproval {
  tool: string
  decision: 'approve' | 'reject'
  /** They replace the model's. */
  arguments: Record<string, unknown> | null
  /** What the agent is told. */
  reason: string | null
}

export type TestCheck =
  | { check: 'contains'; text: string; ignoreCase: boolean }
  | { check: 'not_contains'; text: string; ignoreCase: boolean }
  | { check: 'regex'; pattern: string; flags: string }
  | { check: 'json_schema'; schema: Record<string, unknown> }
  /** Words in common with the ground truth, 0 to 1. */
  | { check: 'similarity'; truth: string; atLeast: number }
  /** A model reads question, answer and ground truth and says whether they agree. */
  | { check: 'judge'; truth: string | null; criteria: string }
