import type { CaseResult } from '../../../evaluation/case-result.ts'

/** The results for programs. `docs/cli.md` explains the keys. */
export function jsonReport(results: readonly CaseResult[], durationMs: number): string {
  const count = (outcome: CaseResult['outcome']): number => results.filter((one) => one.outcome === outcome).length
  const report = {
    ok: count('passed') === results.length,
    passed: count('passed'),
    failed: count('failed'),
    errors: count('error'),
    stopped: count('stopped'),
    duration_ms: Math.round(durationMs),
    cases: results.map(({ agent, name, outcome, durationMs: took, tokens, findings, answer, calls }) => ({
      agent,
      name,
      outcome,
      duration_ms: took,
      tokens,
      findings,
      answer,
      tool_calls: calls.map(({ name: tool, arguments: args, bySubagent }) => ({
        name: tool,
        arguments: args,
        by_subagent: bySubagent,
      })),
    })),
  }
  return `${JSON.stringify(report, null, 2)}\n`
}
