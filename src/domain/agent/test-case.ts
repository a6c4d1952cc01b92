// A test case of an agent file: what the user says and what must be true of the answer, or questions to the agent's documents.
// `quarterdeck test` runs it.

import type { KnowledgeQuestion } from '../knowledge/question.ts'

export type TestCase = AnswerCase | SearchCase

/** How well the agent's documents are searched. No model is asked. */
export interface SearchCase {
  name: string
  /** Of the agent: a tool of the type `knowledge`. */
  knowledge: string
  questions: readonly KnowledgeQuestion[]
  /** From 0 to 1. */
  recallAt5: number
  /** Null: it may be anything. */
  mrr: number | null
  timeoutMs: number
}

export interface AnswerCase {
  name: string
  /** What the user says, turn by turn. The checks look at the last answer. */
  turns: string[]
  /** Absolute paths of files sent with the first turn. */
  files: string[]
  /** Calls that must happen, in this order; others may come in between. Arguments that are named must be equal. */
  tools: { name: string; arguments: Record<string, unknown> | null }[]
  /** The test fails if any other tool is called. */
  onlyTheseTools: boolean
  /** Answers for calls that need approval. The answers for one tool are used in order; the last one answers all further calls. */
  approvals: CaseApproval[]
  checks: TestCheck[]
  timeoutMs: number
}

export interface CaseApproval {
  tool: string
  decision: 'approve' | 'reject'
  /** These replace the model's arguments. */
  arguments: Record<string, unknown> | null
  /** The reason that the agent is told. */
  reason: string | null
}

export type TestCheck =
  | { check: 'contains'; text: string; ignoreCase: boolean }
  | { check: 'not_contains'; text: string; ignoreCase: boolean }
  | { check: 'regex'; pattern: string; flags: string }
  | { check: 'json_schema'; schema: Record<string, unknown> }
  /** Share of words in common with the ground truth, 0 to 1. */
  | { check: 'similarity'; truth: string; atLeast: number }
  /** A model reads the question, the answer and the ground truth, and says whether they agree. */
  | { check: 'judge'; truth: string | null; criteria: string }
