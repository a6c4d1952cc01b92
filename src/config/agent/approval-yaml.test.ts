// biome-ignore-all lint/suspicious/noThenProperty: a key of our files.

import { describe, expect, test } from 'vitest'
import { loadLines, mistakesIn } from '../testing/load-lines.ts'

const files = { '/a/tools.ts': '' }

/** The rule of a tool that takes an amount, a path and an order. */
const tool = (approval: string) => `tools:
  - type: function
    name: pay
    file: tools.ts
    parameters: { amount: { type: number }, path: { type: string }, order: { type: object } }
    approval: ${approval}`

const ruleOf = (approval: string) => {
  const [one] = loadLines(tool(approval), { files }).tools
  return one?.approval
}

const mistakesOf = (approval: string) =>
  mistakesIn(tool(approval), { files }).map((line) => line.replace(/^agent\.yaml:(\d+):\d+ tools\[0\]\./, '$1 '))

describe('the approval of a tool', () => {
  test.each([
    ['never', { ask: 'never' }],
    ['always', { ask: 'always' }],
    ['risk >= high', { ask: 'risk', atLeast: 'high' }],
    ['risk >= critical', { ask: 'risk', atLeast: 'critical' }],
    ['risk', { ask: 'risk', atLeast: 'high' }],
    ['policy', { ask: 'policy' }],
    ['{ when: { amount: { above: 100 } } }', { ask: 'when', any: [{ amount: { above: 100 } }], otherwise: 'default' }],
    [
      '{ when: { amount: { above: 100 } }, otherwise: run }',
      { ask: 'when', any: [{ amount: { above: 100 } }], otherwise: 'run' },
    ],
    [
      '{ when: [{ amount: { below: 0 } }, { path: x, order.country: us }] }',
      {
        ask: 'when',
        any: [{ amount: { below: 0 } }, { path: { equals: 'x' }, 'order.country': { equals: 'us' } }],
        otherwise: 'default',
      },
    ],
  ])('%s is %j', (written, rule) => {
    expect(ruleOf(written)).toEqual(rule)
  })

  test.each([
    ['us', { equals: 'us' }],
    ['5', { equals: 5 }],
    ['true', { equals: true }],
    ['null', { equals: null }],
    ['/etc/**', { matches: '/etc/**' }],
    ['"a?c"', { matches: 'a?c' }],
    ['[us, eu, 1, null]', { oneOf: ['us', 'eu', 1, null] }],
    ['{ above: 1.5 }', { above: 1.5 }],
    ['{ below: -1 }', { below: -1 }],
    ['{ equals: "a*" }', { equals: 'a*' }],
    ['{ equals: null }', { equals: null }],
    ['{ one_of: ["a*", b] }', { oneOf: ['a*', 'b'] }],
    ['{ matches: readme }', { matches: 'readme' }],
    ['{ path: "*.env" }', { path: '*.env' }],
    ['{ not: { path: "*.env" } }', { not: { path: '*.env' } }],
    ['{ not: draft }', { not: { equals: 'draft' } }],
    ['{ not: /tmp/** }', { not: { matches: '/tmp/**' } }],
    ['{ not: [a, b] }', { not: { oneOf: ['a', 'b'] } }],
    ['{ not: { above: 5 } }', { not: { above: 5 } }],
  ])('an argument that must be %s has the condition %j', (written, condition) => {
    expect(ruleOf(`{ when: { path: ${written} } }`)).toEqual({
      ask: 'when',
      any: [{ path: condition }],
      otherwise: 'default',
    })
  })

  const rules = 'never, always, risk >= high, risk >= critical, policy, or the key when'
  test.each([
    ['risk>=high', `9 approval: expected ${rules}, found "risk>=high". Did you mean risk >= high?`],
    [
      'sometimes',
      `9 approval: expected ${rules}, found "sometimes". Write e.g. approval: { when: { amount: { above: 100 } }, otherwise: run }`,
    ],
    ['{ when: { amount: 1 }, wen: 1 }', '9 approval.wen: unknown key. Did you mean when?'],
    [
      '{ when: {} }',
      '9 approval.when: expected conditions on arguments, or a list of them, found an empty map. Write e.g. when: { amount: { above: 100 } }',
    ],
    ['{ when: { amount: { abov: 1 } } }', '9 approval.when.amount.abov: unknown key. Did you mean above?'],
    [
      '{ when: { amount: { above: much } } }',
      '9 approval.when.amount.above: expected a number, found "much". Write e.g. above: 100',
    ],
    [
      '{ when: { amount: { above: 1, below: 2 } } }',
      '9 approval.when.amount: expected exactly one test for an argument, found above and below. Write e.g. { above: 100 }',
    ],
    [
      '{ when: { amount: {} } }',
      '9 approval.when.amount: expected exactly one test for an argument, found none. Write e.g. { above: 100 }',
    ],
    [
      '{ when: { path: [/etc/**, /root] } }',
      '9 approval.when.path[0]: a list holds exact values, so * and ? would be ordinary characters here. For patterns, write one entry of when (or one policy rule) each; for the characters themselves, use one_of',
    ],
    ['{ when: { amuont: 5 } }', '9 approval.when.amuont: the tool has no parameter amuont. Did you mean amount?'],
    [
      '{ when: [{ path: x }, { country.code: us }] }',
      '9 approval.when[1].country.code: the tool has no parameter country. It has amount, path, order.',
    ],
  ])('%s is explained', (written, expected) => {
    expect(mistakesOf(written)).toEqual([expected])
  })
})

describe('the approval of an agent', () => {
  test('can have a policy', () => {
    const { approval } = loadLines(`approval:
  default: policy
  by: owner
  expires: 10m
  policy:
    - { tools: read_*, then: allow }
    - { tools: [write, "rm_*"], where: { path: /etc/** }, then: refuse }
    - { tools: "*", then: ask }`)
    expect(approval).toEqual({
      default: { ask: 'policy' },
      by: 'owner',
      expiresSeconds: 600,
      policy: [
        { tools: ['read_*'], where: null, then: 'allow' },
        { tools: ['write', 'rm_*'], where: { path: { matches: '/etc/**' } }, then: 'refuse' },
        { tools: ['*'], where: null, then: 'ask' },
      ],
    })
  })

  test('can have conditions on arguments', () => {
    expect(loadLines('approval: { default: { when: { path: /etc/** } } }').approval.default).toEqual({
      ask: 'when',
      any: [{ path: { matches: '/etc/**' } }],
      otherwise: 'default',
    })
  })

  test('refuses a policy that nothing uses, and accepts one that a single tool of a server uses', () => {
    const policy = 'approval: { policy: [{ tools: a, then: allow }] }\n'
    expect(mistakesIn(policy)).toEqual([
      'agent.yaml:4:21 approval.policy: nothing uses this policy, so its rules have no effect. Write default: policy here, or approval: policy on a tool',
    ])
    const server = 'tools: [{ type: mcp, name: s, command: x, tools: { write: { approval: policy } } }]'
    expect(loadLines(policy + server).approval.policy).toHaveLength(1)
  })

  test.each([
    ['2', { low: 2, high: 2, critical: 2 }],
    ['{ critical: 2 }', { low: 1, high: 1, critical: 2 }],
    ['{ high: 2 }', { low: 1, high: 2, critical: 2 }],
    ['{ low: 1, high: 2, critical: 20 }', { low: 1, high: 2, critical: 20 }],
    // Approvals are bound to the rules. A default that is written out must not void them.
    ['1', undefined],
    ['{ critical: 1 }', undefined],
  ])('can ask for several yeses: %s', (written, quorum) => {
    expect(loadLines(`approval: { quorum: ${written} }`).approval.quorum).toEqual(quorum)
  })

  test.each([
    [
      'quorum: 21',
      '4:21 approval.quorum: expected a number of people from 1 to 20, or one for each of low, high and critical, found 21. Write e.g. quorum: { critical: 2 }',
    ],
    [
      'quorum: { high: 3, critical: 2 }',
      '4:42 approval.quorum.critical: a lower risk needs 3 yeses, so this one cannot need fewer.',
    ],
    [
      'by: owner, quorum: 2',
      '4:32 approval.quorum: with by: owner, the owner of a session may answer alone. Write by: operator, or a quorum for critical calls only: { critical: 2 }',
    ],
  ])('explains %s', (written, expected) => {
    expect(mistakesIn(`approval: { ${written} }`)).toEqual([`agent.yaml:${expected}`])
  })

  test('can ask for several yeses to critical calls where the owner answers the others', () => {
    expect(loadLines('approval: { by: owner, quorum: { critical: 2 } }').approval).toMatchObject({
      by: 'owner',
      quorum: { critical: 2 },
    })
  })

  test.each([
    [
      '{ then: allow }',
      '4:39 approval.policy[0].tools: this key is missing; expected the name of a tool or a glob, or a list of them. Write e.g. tools: [ read_* ]',
    ],
    [
      '{ tools: a, then: deny }',
      '4:57 approval.policy[0].then: expected one of allow, ask, refuse, found "deny". Write e.g. then: allow',
    ],
    [
      '{ tools: a, where: { b: { below: x } }, then: ask }',
      '4:72 approval.policy[0].where.b.below: expected a number, found "x". Write e.g. below: 0',
    ],
  ])('explains the rule %s', (rule, expected) => {
    expect(mistakesIn(`approval: { default: policy, policy: [${rule}] }`)).toEqual([`agent.yaml:${expected}`])
  })
})
