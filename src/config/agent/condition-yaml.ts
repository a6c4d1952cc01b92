// The schema of conditions on the arguments of a call, and what they are turned into.

import { z } from 'zod'
import type { ArgumentCondition, ArgumentConditions } from '../../domain/agent/approval-rule.ts'
import { key, text } from '../source/schema-key.ts'

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
      for (const [index, value] of values.entries()) {
        if (!isGlob(value)) continue
        const message =
          'a list holds exact values, so * and ? would be ordinary characters here. For patterns, write one entry of ' +
          'when (or one policy rule) each; for the characters themselves, use one_of'
        context.addIssue({ code: 'custom', path: [index], message })
      }
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
  const message = `expected exactly one test for an argument, found ${written}. Write e.g. { above: 100 }`
  context.addIssue({ code: 'custom', message })
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
export const conditions = () =>
  z
    .record(z.string(), condition())
    .refine((value) => Object.keys(value).length > 0, { error: '' })
    .transform((value): ArgumentConditions => value)
    .meta({ expected: 'conditions on arguments', example: { amount: { above: 100 } }, shared: 'conditions' })
