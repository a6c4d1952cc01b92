import type { TestCase, TestCheck } from '../../domain/test-case.ts'
import { existingFile, type LoadContext } from '../source/load-context.ts'
import type { AgentYaml } from './agent-yaml.ts'
import type { TestCaseYaml } from './test-case-yaml.ts'

/** Required similarity if a test case has a ground truth and says nothing about how to compare. */
const SIMILARITY = 0.5

export function defineTestCases({ test_cases: cases, judge }: AgentYaml, context: LoadContext): TestCase[] {
  return cases.map((test, index) => ({
    name: test.name,
    turns: test.turns ?? [test.input ?? ''],
    files: test.files.map((file, at) => {
      const place = test.files.length > 1 ? [at] : []
      return existingFile(file, ['test_cases', index, 'files', ...place], context)
    }),
    tools: test.tools.map((tool) =>
      typeof tool === 'string'
        ? { name: tool, arguments: null }
        : { name: tool.name, arguments: tool.arguments ?? null },
    ),
    onlyTheseTools: test.only_these_tools,
    approvals: test.approvals.map(({ tool, decision, arguments: edited, reason }) => ({
      tool,
      decision,
      arguments: edited ?? null,
      reason: reason ?? null,
    })),
    checks: checksOf(test, judge !== undefined),
    timeoutMs: test.timeout * 1000,
  }))
}

function checksOf(test: TestCaseYaml, hasJudge: boolean): TestCheck[] {
  const ignoreCase = test.ignore_case
  const checks: TestCheck[] = [
    ...(test.contains ?? []).map((text) => ({ check: 'contains' as const, text, ignoreCase })),
    ...(test.not_contains ?? []).map((text) => ({ check: 'not_contains' as const, text, ignoreCase })),
    ...(test.regex ?? []).map((pattern) => ({ check: 'regex' as const, pattern, flags: ignoreCase ? 'i' : '' })),
  ]
  if (test.json_schema !== undefined) checks.push({ check: 'json_schema', schema: test.json_schema })
  const { ground_truth: truth, similarity, judge: criteria } = test
  if (truth !== undefined && (similarity !== undefined || (criteria === undefined && !hasJudge))) {
    checks.push({ check: 'similarity', truth, atLeast: similarity ?? SIMILARITY })
  }
  // Without criteria, the judge only compares with the ground truth, unless a similarity is set.
  if (criteria !== undefined || (truth !== undefined && similarity === undefined && hasJudge)) {
    checks.push({ check: 'judge', truth: truth ?? null, criteria: criteria ?? '' })
  }
  return checks
}
