import { describe, expect, test } from 'vitest'
import type { ApprovalRule, ArgumentConditions, PolicyRule } from '../../domain/agent/approval-rule.ts'
import type { Risk } from '../../domain/agent/tool-settings.ts'
import { pathContext, policyRule } from '../testing/gated-call.ts'
import { applyPolicy, type RuledCall } from './apply-policy.ts'

const call = (rule: ApprovalRule, more: Partial<RuledCall> = {}): RuledCall => ({
  rule,
  agentRule: { ask: 'risk', atLeast: 'high' },
  paths: pathContext,
  policy: [],
  tool: 'send_email',
  risk: 'high',
  arguments: { to: 'ann@example.com', amount: 50 },
  ...more,
})

const when = (otherwise: 'run' | 'default', ...any: ArgumentConditions[]): ApprovalRule => ({
  ask: 'when',
  any,
  otherwise,
})

describe('the rule of a tool', () => {
  test.each<[ApprovalRule, Risk, string]>([
    [{ ask: 'never' }, 'critical', 'run'],
    [{ ask: 'always' }, 'low', 'ask'],
    [{ ask: 'risk', atLeast: 'high' }, 'low', 'run'],
    [{ ask: 'risk', atLeast: 'high' }, 'high', 'ask'],
    [{ ask: 'risk', atLeast: 'high' }, 'critical', 'ask'],
    [{ ask: 'risk', atLeast: 'critical' }, 'high', 'run'],
    [when('default', { amount: { above: 100 } }), 'low', 'run'],
    [when('default', { amount: { above: 100 } }, { to: { matches: '*@example.com' } }), 'low', 'ask'],
    [when('default', { amount: { above: 100 } }), 'high', 'ask'],
    [when('default'), 'critical', 'ask'],
    [when('run', { amount: { above: 100 } }), 'critical', 'run'],
    [when('run', { amount: { above: 10 } }), 'low', 'ask'],
    [{ ask: 'policy' }, 'low', 'ask'],
  ])('%j at risk %s: %s', (rule, risk, expected) => {
    expect(applyPolicy(call(rule, { risk }))).toBe(expected)
  })
})

describe('a tool whose rule is `when`', () => {
  const rule = when('default', { amount: { above: 100 } })
  const refusing = [policyRule(['**'], { amount: { below: 200 } }, 'refuse'), policyRule(['**'], null, 'allow')]
  test.each<[string, ApprovalRule, number, Risk, string]>([
    ['a higher bar', { ask: 'risk', atLeast: 'critical' }, 50, 'high', 'run'],
    ['a higher bar', { ask: 'risk', atLeast: 'critical' }, 500, 'high', 'ask'],
    ['a higher bar', { ask: 'risk', atLeast: 'critical' }, 50, 'critical', 'ask'],
    ['never', { ask: 'never' }, 50, 'critical', 'run'],
    ['never', { ask: 'never' }, 500, 'low', 'ask'],
    ['always', { ask: 'always' }, 50, 'low', 'ask'],
    ['a policy', { ask: 'policy' }, 50, 'low', 'refuse'],
    ['a policy', { ask: 'policy' }, 500, 'low', 'ask'],
    ['conditions', when('default', { to: { matches: 'ann@*' } }), 50, 'low', 'ask'],
    ['conditions', when('default', { to: { matches: 'eve@*' } }), 50, 'low', 'run'],
    ['conditions', when('default', { to: { matches: 'eve@*' } }), 50, 'high', 'ask'],
    ['conditions that let the rest run', when('run', { to: { matches: 'eve@*' } }), 50, 'high', 'run'],
  ])("adds to the agent's rule: %s", (_, agentRule, amount, risk, expected) => {
    const args = { to: 'ann@example.com', amount }
    expect(applyPolicy(call(rule, { agentRule, risk, policy: refusing, arguments: args }))).toBe(expected)
  })
})

describe('a path that cannot be resolved', () => {
  const args = { path: '~/x.env' }
  test.each<['allow' | 'ask' | 'refuse']>([['allow'], ['ask'], ['refuse']])(
    'asks, even if the rule would %s',
    (then) => {
      const policy = [policyRule(['**'], { path: { matches: '*.txt' } }, then), policyRule(['**'], null, 'allow')]
      expect(applyPolicy(call({ ask: 'policy' }, { policy, arguments: args }))).toBe('ask')
      const not = [policyRule(['**'], { path: { not: { path: '*.env' } } }, then), policyRule(['**'], null, 'allow')]
      expect(applyPolicy(call({ ask: 'policy' }, { policy: not, arguments: args }))).toBe('ask')
    },
  )

  test('asks if the rule is `when`', () => {
    expect(applyPolicy(call(when('run', { path: { matches: '*.txt' } }), { arguments: args }))).toBe('ask')
  })
})

describe('the policy', () => {
  const policy: PolicyRule[] = [
    policyRule(['send_*'], { to: { matches: '*@evil.example' } }, 'refuse'),
    policyRule(['read_*', 'send_email'], { amount: { below: 100 } }, 'allow'),
    policyRule(['send_email'], null, 'ask'),
    policyRule(['**'], null, 'allow'),
  ]
  test.each<[string, Record<string, unknown>, string]>([
    ['send_email', { to: 'x@evil.example', amount: 1 }, 'refuse'],
    ['send_email', { to: 'ann@example.com', amount: 1 }, 'run'],
    ['send_email', { to: 'ann@example.com', amount: 100 }, 'ask'],
    ['send_email', {}, 'ask'],
    ['other', {}, 'run'],
  ])('the first rule that fits decides: %s %j', (tool, args, expected) => {
    expect(applyPolicy(call({ ask: 'policy' }, { policy, tool, arguments: args }))).toBe(expected)
  })

  test.each<[PolicyRule['then'], string]>([
    ['allow', 'ask'],
    ['refuse', 'refuse'],
  ])(
    'a rule that would %s means what one entry of a list asks for only where that is the safe side',
    (then, expected) => {
      const mixed = { moves: [{ to: 'a' }, { to: 'b' }] }
      const policy = [policyRule(['**'], { 'moves.to': { equals: 'b' } }, then), policyRule(['**'], null, 'ask')]
      expect(applyPolicy(call({ ask: 'policy' }, { policy, arguments: mixed }))).toBe(expected)
    },
  )
})

test('a rule that cannot be read asks', () => {
  for (const text of [
    '{"ask":"someday"}',
    '{"ask":"when","any":[{"to":{"resembles":"x"}}]}',
    '{"ask":"when"}',
    '{"ask":"risk","atLeast":"low"}',
    'null',
  ]) {
    expect([text, applyPolicy(call(JSON.parse(text)))]).toEqual([text, 'ask'])
  }
  expect(applyPolicy(call({ ask: 'risk', atLeast: 'critical' }, { risk: JSON.parse('"unheard of"') }))).toBe('ask')
  const policy = JSON.parse(
    '[{"tools":["*"],"where":{"to":{"resembles":"x"}},"then":"allow"},{"tools":["*"],"where":null,"then":"allow"}]',
  )
  expect(applyPolicy(call({ ask: 'policy' }, { policy }))).toBe('ask')
  expect(
    applyPolicy(call({ ask: 'policy' }, { policy: JSON.parse('[{"tools":["*"],"where":null,"then":"maybe"}]') })),
  ).toBe('ask')
})
