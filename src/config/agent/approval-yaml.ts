// The schema of `approval`, for the agent and for a single tool: which calls a person must approve.

import { z } from 'zod'
import type { ApprovalRule, ArgumentCondition, ArgumentConditions } from '../../domain/agent/approval-rule.ts'
import { duration, key, oneOrMore, quorum, reporter, text } from '../source/schema-key.ts'

// The schema of conditions on the arguments of a call, and what they are turned into.

const scalar = () => z.union([z.string(), z.number(), z.boolean(), z.null()])

type Scalar = z.infer<ReturnType<typeof scalar>>

const isGlob = (value: Scalar): value is string => typeof value === 'string' && /[*?]/.test(value)

const plain = (value: Scalar): ArgumentCondition => (isGlob(value) ? { matches: value } : { equals: value })

// A glob in a list would be compared literally, and so let through the calls it is meant to stop.
const list = () =>
  z
    .array(scalar())
    .min(1)
    .superRefine((values, context) => {
      const message =
        'a list holds exact values, so * and ? would be ordinary characters here. For patterns, write one entry of ' +
        'when (or one policy rule) each; for the characters themselves, use one_of'
      for (const [index, value] of values.entries()) if (isGlob(value)) reporter(context)([index], message)
    })

const testKeys = {
  equals: key(scalar().optional(), 'Matches exactly this value.', 'all'),
  one_of: key(z.array(scalar()).min(1).optional(), 'Matches one of these values.', ['eu', 'us']),
  matches: key(
    text().optional(),
    'Matches a glob: `*` = any characters except `/`, `**` = any characters, `?` = one character.',
    '/etc/**',
  ),
  path: key(
    text().optional(),
    'Matches a path against a glob, after links and `..` are resolved. Without `/`, the glob is compared with the last part of the path.',
    '*.env',
  ),
  above: key(z.number().optional(), 'Matches a number greater than this.', 100),
  below: key(z.number().optional(), 'Matches a number less than this.', 0),
}

type Tests = z.infer<z.ZodObject<typeof testKeys>>

const namesOf = (tests: object): string[] =>
  Object.entries(tests)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name)

function checkOne(tests: object, context: z.RefinementCtx): void {
  const found = namesOf(tests)
  if (found.length === 1) return
  const written = found.length === 0 ? 'none' : found.join(' and ')
  reporter(context)([], `expected exactly one test for an argument, found ${written}. Write e.g. { above: 100 }`)
}

function testOf(tests: Tests): ArgumentCondition {
  if (tests.one_of !== undefined) return { oneOf: tests.one_of }
  if (tests.matches !== undefined) return { matches: tests.matches }
  if (tests.path !== undefined) return { path: tests.path }
  if (tests.above !== undefined) return { above: tests.above }
  if (tests.below !== undefined) return { below: tests.below }
  return { equals: tests.equals ?? null }
}

const expected = 'a value, a list of values, or one of the keys equals, one_of, matches, path, above, below and not'

const conditionOf = (value: Scalar | Scalar[] | ArgumentCondition): ArgumentCondition => {
  if (Array.isArray(value)) return { oneOf: value }
  return typeof value === 'object' && value !== null ? value : plain(value)
}

/** A plain value, a list of values, or the keys of `tests`. */
const conditionSchema = <T extends z.ZodType<ArgumentCondition>>(tests: T) =>
  z.union([z.string(), z.number(), z.boolean(), z.null(), list(), tests]).transform(conditionOf)

const negated = () => conditionSchema(z.strictObject(testKeys).superRefine(checkOne).transform(testOf))

const condition = () =>
  key(
    conditionSchema(
      z
        .strictObject({
          ...testKeys,
          not: key(
            negated().optional(),
            'Matches if this condition does not.',
            'draft',
            expected.replace(' and not', ''),
          ),
        })
        .superRefine(checkOne)
        .transform(({ not, ...tests }): ArgumentCondition => (not === undefined ? testOf(tests) : { not })),
    ),
    'Condition on this argument.',
    { above: 100 },
    expected,
  )

/** Every named argument must match. A name may contain dots to reach inside an argument: `order.amount`. */
const conditions = () =>
  z
    .record(z.string(), condition())
    .refine((value) => Object.keys(value).length > 0, { error: '' })
    .transform((value): ArgumentConditions => value)
    .meta({ expected: 'conditions on arguments', example: { amount: { above: 100 } }, shared: 'conditions' })

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
          'Also asks if these conditions on the arguments match; in a list, one matching entry is enough.',
          { amount: { above: 100 } },
          'conditions on arguments, or a list of them',
        ),
        otherwise: key(
          z.enum(['run']).optional(),
          'Lets all other calls run, whatever their risk. Without it, `approval.default` decides about them; there, `risk >= high` does.',
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
    'Which calls a person must approve, unless the tool has its own `approval`: none, all, from this risk on, what the `policy` asks about, or by their arguments.',
    'risk >= high',
    ruleExpectation,
  ),
  by: key(
    z.enum(['owner', 'operator']).default('operator'),
    'Who may answer: only operators, or also the owner of the session, with a token; a critical call only operators.',
    'operator',
  ),
  expires: duration('How long an approval waits for an answer. After that, it counts as rejected.', '1h').prefault(
    3600,
  ),
  quorum: quorum('How many operators must say yes, in all or for each risk. The first no closes.').optional(),
  policy: key(
    z.array(policyRule).default([]),
    'Rules for calls whose approval is `policy`. The first rule that covers a call decides; a call that no rule covers needs approval.',
    // biome-ignore lint/suspicious/noThenProperty: a key of our files.
    [{ tools: ['read_*'], then: 'allow' }],
  ),
})
