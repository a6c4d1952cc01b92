// The schema of `approval`, of the agent and of a tool: when a person is asked before a tool runs.

import { z } from 'zod'
import type { ApprovalRule } from '../../domain/approval-rule.ts'
import { duration } from '../source/duration.ts'
import { key, oneOrMore, text } from '../source/schema-key.ts'
import { conditions } from './condition-yaml.ts'

const words: Readonly<Record<string, ApprovalRule>> = {
  never: { ask: 'never' },
  always: { ask: 'always' },
  'risk >= high': { ask: 'risk', atLeast: 'high' },
  'risk >= critical': { ask: 'risk', atLeast: 'critical' },
  policy: { ask: 'policy' },
  // The word of the first version.
  risk: { ask: 'risk', atLeast: 'high' },
}

export const ruleExpectation = 'never, always, risk >= high, risk >= critical, policy, or the key when'

export const approvalRule = () =>
  z
    .union([
      z.enum(['never', 'always', 'risk >= high', 'risk >= critical', 'policy', 'risk']),
      z.strictObject({
        when: key(
          z.union([conditions(), z.array(conditions()).min(1)]),
          'Also asks where the arguments fit: conditions on arguments, or a list of them. Every argument of an entry must fit, and one entry of a list.',
          { amount: { above: 100 } },
          'conditions on arguments, or a list of them',
        ),
        otherwise: key(
          z.enum(['run']).optional(),
          'Lets all other calls run, whatever their risk is. Without it they go by `approval.default` of the agent, and where this is `approval.default` itself by `risk >= high`.',
          'run',
        ),
      }),
    ])
    .transform(
      (value): ApprovalRule =>
        typeof value === 'string'
          ? (words[value] ?? { ask: 'always' })
          : {
              ask: 'when',
              any: Array.isArray(value.when) ? value.when : [value.when],
              otherwise: value.otherwise ?? 'default',
            },
    )
    .meta({ shared: 'approval_rule' })

const policyRule = z.strictObject({
  tools: key(
    oneOrMore(text()),
    'The tools it is about: names or globs.',
    ['read_*'],
    'the name of a tool or a glob, or a list of them',
  ),
  where: key(
    conditions().optional(),
    'What the arguments must be; without it every call fits.',
    { path: '/tmp/**' },
    'conditions on arguments',
  ),
  // biome-ignore lint/suspicious/noThenProperty: a key of our files.
  then: key(z.enum(['allow', 'ask', 'refuse']), 'What happens to a call that fits.', 'allow'),
})

/** The `approval` of the agent. */
export const approval = z.strictObject({
  default: key(
    approvalRule().prefault('risk >= high'),
    'Which calls a person must allow, where the tool does not say: none, all, those of tools with this risk and above, those that the `policy` asks about, or those with such arguments.',
    'risk >= high',
    ruleExpectation,
  ),
  by: key(
    z.enum(['owner', 'operator']).default('operator'),
    'Who may answer: an operator, or also the owner of the session, with a token that names them. Calls of risk critical are always the operator’s.',
    'operator',
  ),
  expires: duration({ description: 'How long an approval waits; then it counts as refused.', example: '1h' }).prefault(
    3600,
  ),
  policy: key(
    z.array(policyRule).default([]),
    'Rules for calls whose approval is `policy`. The first that fits decides; a call that none fits is asked about.',
    // biome-ignore lint/suspicious/noThenProperty: a key of our files.
    [{ tools: ['read_*'], then: 'allow' }],
  ),
})
