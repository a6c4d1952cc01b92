// The schema of `approval`, for the agent and for a single tool: which calls a person must approve.

import { z } from 'zod'
import type { ApprovalRule } from '../../domain/agent/approval-rule.ts'
import { duration } from '../source/duration.ts'
import { quorum } from '../source/quorum.ts'
import { key, oneOrMore, text } from '../source/schema-key.ts'
import { conditions } from './condition-yaml.ts'

const words: Readonly<Record<string, ApprovalRule>> = {
  never: { ask: 'never' },
  always: { ask: 'always' },
  'risk >= high': { ask: 'risk', atLeast: 'high' },
  'risk >= critical': { ask: 'risk', atLeast: 'critical' },
  policy: { ask: 'policy' },
  // The first version of agent.yaml had this word.
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
          'Also asks for approval if these conditions match the arguments of a call. All conditions of an entry must match; in a list, one matching entry is enough.',
          { amount: { above: 100 } },
          'conditions on arguments, or a list of them',
        ),
        otherwise: key(
          z.enum(['run']).optional(),
          'Lets all other calls run, whatever their risk. Without it, the agent’s `approval.default` decides about them; inside `approval.default` itself, `risk >= high` decides.',
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
    'The tools that this rule covers: names or globs.',
    ['read_*'],
    'the name of a tool or a glob, or a list of them',
  ),
  where: key(
    conditions().optional(),
    'Conditions on the arguments. Without it, the rule covers every call of these tools.',
    { path: '/tmp/**' },
    'conditions on arguments',
  ),
  // biome-ignore lint/suspicious/noThenProperty: a key of our files.
  then: key(z.enum(['allow', 'ask', 'refuse']), 'What happens to a call that the rule covers.', 'allow'),
})

/** The key `approval` of the agent. */
export const approval = z.strictObject({
  default: key(
    approvalRule().prefault('risk >= high'),
    'Which calls a person must approve, unless the tool has its own `approval`: none, all, those of tools with this risk or a higher one, those that the `policy` asks about, or those whose arguments match.',
    'risk >= high',
    ruleExpectation,
  ),
  by: key(
    z.enum(['owner', 'operator']).default('operator'),
    'Who may answer: only operators, or also the owner of the session (with a token that names them). Only an operator may approve calls of risk critical.',
    'operator',
  ),
  expires: duration({
    description: 'How long an approval waits for an answer. After that, it counts as rejected.',
    example: '1h',
  }).prefault(3600),
  quorum: quorum(
    'How many operators must say yes before a call runs: a number, or one for each risk. The first no closes. `operators` in quarterdeck.yaml names them.',
  ).optional(),
  policy: key(
    z.array(policyRule).default([]),
    'Rules for calls whose approval is `policy`. The first rule that covers a call decides; a call that no rule covers needs approval.',
    // biome-ignore lint/suspicious/noThenProperty: a key of our files.
    [{ tools: ['read_*'], then: 'allow' }],
  ),
})
