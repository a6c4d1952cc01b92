import type { AgentCase, CaseResult } from './case-result.ts'
import { type CaseDeps, runCase } from './run-case.ts'

interface CasesOptions {
  /** At most this many at once. */
  parallel: number
  /** Those that have begun end soon as `stopped`, the others do not begin. */
  stop: AbortSignal
  /** Called when a case begins and when it has its result. */
  onBegin?(testCase: AgentCase): void
  onResult?(result: CaseResult): void
}

/** The results of all cases, in their order whatever the order they ended in. */
export async function runCases(
  cases: readonly AgentCase[],
  deps: CaseDeps,
  { parallel, stop, onBegin, onResult }: CasesOptions,
): Promise<CaseResult[]> {
  const results = new Map<number, CaseResult>()
  const left = cases.entries()
  const work = async () => {
    // One iterator for all: each takes the next that nobody has.
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
