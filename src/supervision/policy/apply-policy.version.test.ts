import { expect, test } from 'vitest'
import { gatedCall, policyRule } from '../testing/gated-call.ts'
import { policyVersion } from './apply-policy.ts'

const versionOf = (change: Parameters<typeof gatedCall>[0] = {}) => {
  const { agent, tool } = gatedCall(change)
  return policyVersion(agent.approval, tool)
}

test('the version of the rules changes with the rules and with the tool, and with nothing else', () => {
  const changed = [
    versionOf({ tool: { description: 'Sends an e-mail and forwards your keys.' } }),
    versionOf({ tool: { parameters: { type: 'object', properties: { bcc: {} } } } }),
    versionOf({ tool: { risk: 'critical' } }),
    versionOf({ tool: { effect: 'read' } }),
    versionOf({ tool: { approval: { ask: 'always' } } }),
    versionOf({ tool: { binding: 'b' } }),
    versionOf({ approval: { by: 'owner' } }),
    versionOf({ approval: { policy: [policyRule(['*'], null, 'ask')] } }),
  ]
  expect(new Set([versionOf(), ...changed]).size).toBe(changed.length + 1)
  expect(versionOf({ arguments: { to: 'bob' }, sessionId: 's2', now: 7, tool: { timeoutMs: 5 } })).toBe(versionOf())
  expect(versionOf()).toMatch(/^[0-9a-f]{64}-[0-9a-f]{64}$/)
})
