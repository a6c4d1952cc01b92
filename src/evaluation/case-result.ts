import type { TestCase } from '../domain/agent/test-case.ts'

export interface AgentCase {
  agent: string
  testCase: TestCase
}

export interface CaseResult {
  agent: string
  name: string
  /** `error`: the case could not be run to its end, so it says nothing about the agent. `stopped`: the user stopped it. */
  outcome: 'passed' | 'failed' | 'error' | 'stopped'
  /** What differed from the expectations. Empty when the case passed. */
  findings: Finding[]
  durationMs: number
  /** As the agent's models reported them. The judge's tokens are not included. */
  tokens: { input: number; output: number }
  /** Everything that the agent said in the last turn. */
  answer: string
  /** The calls of all turns, in order. */
  calls: MadeCall[]
}

/** One difference between what was expected and what was found. */
export interface Finding {
  /** The name of a check, or `tools`, `approvals`, `run` or `time`. */
  check: string
  expected: string
  found: string
}

export interface MadeCall {
  name: string
  /** Null when the model did not write a JSON object. */
  arguments: Record<string, unknown> | null
  /** A sub-agent made the call. */
  bySubagent: boolean
}
