import type { AgentCase, CaseResult } from './case-result.ts'
import { type CaseDeps, runCase } from './run-case.ts'

interface CasesOptions {
  /** How many cases may run at once. */
  parallel: number
  /** Running cases end soon as `stopped`; the others do not begin. */
  stop: AbortSignal
  onBegin?(testCase: AgentCase): void
  onResult?(result: CaseResult): void
}

/** Runs all cases. The results are in the order of the cases. */
export async function runCases(
  cases: readonly AgentCase[],
  deps: CaseDeps,
  { parallel, stop, onBegin, onResult }: CasesOptions,
): Promise<CaseResult[]> {
  const results = new Map<number, CaseResult>()
  const left = cases.entries()
  const work = async () => {
    // All workers share one iterator, so that each takes the next free case.
    for (const [index, one] of left) {
      if (stop.aborted) break
      onBegin?.(one)
      const result = await runCase(one, deps, stop)
      results.set(index, result)
      onResult?.(result)
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, cases.length) }, work))
  return cases.map((one, index) => results.get(index) ?? notBegun(one))
}

const notBegun = ({ agent, testCase }: AgentCase): CaseResult => ({
  agent,
  name: testCase.name,
  outcome: 'stopped',
  findings: [],
  durationMs: 0,
  tokens: { input: 0, output: 0 },
  answer: '',
  calls: [],
})
