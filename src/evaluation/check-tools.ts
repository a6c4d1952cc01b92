import { isDeepStrictEqual } from 'node:util'
import type { TestCase } from '../domain/agent/test-case.ts'
import type { Finding, MadeCall } from './case-result.ts'

/**
 * The expected calls must happen in this order; other calls may come between them. Arguments that the case names must be equal; the
 * other arguments may be anything. Calls of a sub-agent count as expected calls, but `onlyTheseTools` checks only the agent's own calls.
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
      // The search for the next one starts at the same place, so that one missing call is one finding.
      continue
    }
    next = at + 1
  }
  const others = onlyTheseTools
    ? calls.filter((call) => !call.bySubagent && !tools.some(({ name }) => name === call.name))
    : []
  if (others.length > 0) {
    const names = [...new Set(tools.map(({ name }) => name))]
    const expected = names.length === 0 ? 'no tool calls' : `no tool calls except ${names.join(', ')}`
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

/** YAML may produce other prototypes, and -0. Only what JSON can express is compared. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null))

function describeCall(call: { name: string; arguments: Record<string, unknown> | null }): string {
  return call.arguments === null ? call.name : `${call.name}(${JSON.stringify(call.arguments)})`
}

const describeCalls = (calls: readonly MadeCall[]): string =>
  calls.length === 0 ? 'no call' : calls.map(describeCall).join(', ')
