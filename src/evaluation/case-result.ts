import type { TestCase } from '../domain/test-case.ts'

/** One test case of one agent. */
export interface AgentCase {
  agent: string
  testCase: TestCase
}

export interface CaseResult {
  agent: string
  name: string
  /** `error`: it could not be tried to its end, so nothing is known about the agent. `stopped`: somebody asked to stop. */
  outcome: 'passed' | 'failed' | 'error' | 'stopped'
  /** What was not as expected; empty when it passed. */
  findings: Finding[]
  durationMs: number
  /** What the agent's models told of themselves; a judge's are not counted. */
  tokens: { input: number; output: number }
  /** All that the agent said in the last turn that was taken. */
  answer: string
  /** Of all turns, in order. */
  calls: MadeCall[]
}

/** One difference between what was expected and what was found. */
export interface Finding {
  /** What looked: the name of a check, `tools`, `run` or `time`. */
  check: string
  expected: string
  found: string
}

export interface MadeCall {
  name: string
  /** Null where the model wrote something that is no JSON object. */
  arguments: Record<string, unknown> | null
  /** Made by a sub-agent inside the run. */
  bySubagent: boolean
}
