import { isDeepStrictEqual } from 'node:util'
import type { TestCase } from '../domain/test-case.ts'
import type { Finding, MadeCall } from './case-result.ts'

/**
 * The expected calls must be made in their order; others may lie between. Arguments that a case names must be equal, those
 * that it does not name may be anything. A sub-agent's calls count as made; whether it called others is its own business, so
 * that `only these` looks at the agent's own.
 */
export function checkTools(
  { tools, onlyTheseTools }: Pick<TestCase, 'tools' | 'onlyTheseTools'>,
  calls: readonly MadeCall[],
): Finding[] {
  const findings: Finding[] = []
  let next = 0
  for (const [index, expected] of tools.entries()) {
    const at = calls.findIndex((call, place) => place >= next && fits(expected, call))
    if (at === -1) {
      const before = tools[index - 1]
      const where = before === undefined ? '' : ` after ${describeCall(before)}`
      findings.push({ check: 'tools', expected: `${describeCall(expected)}${where}`, found: describeCalls(calls) })
      // Those behind it are looked for from the same place: one missing call is one finding.
      continue
    }
    next = at + 1
  }
  const others = onlyTheseTools
    ? calls.filter((call) => !call.bySubagent && !tools.some(({ name }) => name === call.name))
    : []
  if (others.length > 0) {
    const names = [...new Set(tools.map(({ name }) => name))]
    const expected = names.length === 0 ? 'no tool is called' : `no tool but ${names.join(', ')} is called`
    findings.push({ check: 'tools', expected, found: describeCalls(others) })
  }
  return findings
}

function fits(expected: TestCase['tools'][number], call: MadeCall): boolean {
  if (expected.name !== call.name) return false
  if (expected.arguments === null) return true
  const made = call.arguments
  if (made === null) return false
  return Object.entries(expected.arguments).every(
    ([name, value]) => Object.hasOwn(made, name) && isDeepStrictEqual(plain(made[name]), plain(value)),
  )
}

/** YAML may give other prototypes and -0 than JSON does; what is compared is what JSON can say. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null))

function describeCall(call: { name: string; arguments: Record<string, unknown> | null }): string {
  return call.arguments === null ? call.name : `${call.name}(${JSON.stringify(call.arguments)})`
}

const describeCalls = (calls: readonly MadeCall[]): string =>
  calls.length === 0 ? 'no call' : calls.map(describeCall).join(', ')
