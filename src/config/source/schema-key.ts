// Building blocks for the schemas of the configuration files.

import { z } from 'zod'
import { risks } from '../../domain/agent/tool-settings.ts'
import { type Quorum, sameForEveryRisk } from '../../domain/supervision/quorum.ts'
import type { JsonSchema } from './json-schema-node.ts'

/**
 * Adds what editors show and error messages need. `expected` replaces the description that is derived from the type. The example
 * has a key of our own, because zod drops `examples` of every schema that contains a transform.
 */
export function key<S extends z.ZodType>(schema: S, description: string, example: unknown, expected?: string): S {
  return schema.meta({ description, example, ...(expected === undefined ? {} : { expected }) })
}

export const text = () =>
  z
    .string()
    .refine((value) => value.trim() !== '', { error: '' })
    .min(1)

export const count = (min = 1) => z.int().min(min)

/** A list, or a single value that counts as a list of one. */
export const oneOrMore = <S extends z.ZodType>(item: S) =>
  z.union([z.array(item).min(1), item]).transform((value): z.output<S>[] => (Array.isArray(value) ? value : [value]))

/** Explains why a schema does not have certain keys that similar schemas have. */
export const refusing = <S extends z.ZodType>(schema: S, refused: Readonly<Record<string, string>>): S =>
  schema.meta({ refused })

/** An address of the web, as a key of agent.yaml. */
export const httpUrlKey = (description: string, example: string) =>
  key(z.url({ protocol: /^https?$/ }).optional(), description, example, 'an http or https URL')

/** The places of entries that have the same value as an earlier one, and of that one. */
export const twinsIn = <T>(list: readonly T[], read: (one: T) => unknown): { index: number; first: number }[] =>
  list
    .map(read)
    .map((value, index, all) => ({ index, first: value === undefined ? index : all.indexOf(value) }))
    .filter(({ index, first }) => first < index)

/** Reports a mistake at a key of the object that is being checked. */
export type Report = (path: string | readonly PropertyKey[], message: string) => void

export const reporter =
  (context: z.RefinementCtx): Report =>
  (path, message) =>
    context.addIssue({ code: 'custom', path: typeof path === 'string' ? [path] : [...path], message })

/** The JSON Schema for error messages and reference pages. It still contains our own keys, such as `expected`. */
export const validationSchema = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', target: 'draft-7' })

const unitSeconds = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 }

// A Node timer overflows at 2^31 ms and then fires at once.
const MAX_SECONDS = 24 * 86_400

const DURATION = /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d)$/

/** A written time span (`30`, `"30s"`, `"15m"`, `"2h"`) in seconds; NaN if it is not one. */
export function secondsOf(span: number | string): number {
  if (typeof span === 'number') return span
  const [, amount, unit] = DURATION.exec(span) ?? []
  if (amount === undefined || !isUnit(unit)) return Number.NaN
  // Rounded to the millisecond: 300 × 0.001 is not 0.3.
  return Math.round(Number(amount) * unitSeconds[unit] * 1000) / 1000
}

/** The same as people write it: 900 is `15m`. */
export function spanOf(seconds: number): string {
  const [unit, size] = Object.entries(unitSeconds).findLast(([, size]) => seconds % size === 0) ?? ['s', 1]
  return `${seconds / size}${unit}`
}

const isUnit = (unit: string | undefined): unit is keyof typeof unitSeconds =>
  unit !== undefined && Object.hasOwn(unitSeconds, unit)

export const durationExpectation = (zero: boolean): string =>
  `${zero ? 'zero or more' : ''} seconds, or a time such as "30s", "15m" or "2h", at most 24 days`.trimStart()

/** Whether a written time span is in the allowed range. */
export function isSpan(span: number | string, zero: boolean): boolean {
  const seconds = secondsOf(span)
  return (zero ? seconds >= 0 : seconds > 0) && seconds <= MAX_SECONDS
}

/** The schema of a written time span, without a check of its range. */
export const spanInput = () => z.union([z.number(), z.string().regex(DURATION)])

/** The schema of a key that holds a time span. Its output is in seconds. `zero`: 0 is allowed and has a special meaning. */
export const duration = (description: string, example: string, zero = false) =>
  spanInput()
    .refine((span) => isSpan(span, zero), { error: '' })
    .meta({ description, example, expected: durationExpectation(zero) })
    .transform(secondsOf)

// The schema of `quorum`: how many operators must say yes.

const people = () => count().max(20)

/** A number for every risk, or one for each. A risk that is left out needs as many as the next lower one. */
export const quorum = (description: string) =>
  key(
    z
      .union([
        people(),
        z
          .strictObject({
            low: key(people(), 'Yeses that a call of risk low needs; 1 if left out.', 1).optional(),
            high: key(people(), 'Yeses that a call of risk high needs; as many as `low` if left out.', 1).optional(),
            critical: key(
              people(),
              'Yeses that a call of risk critical needs; as many as `high` if left out.',
              2,
            ).optional(),
          })
          .superRefine((value, context) => {
            let most = 1
            for (const risk of risks) {
              const needed = value[risk] ?? most
              if (needed < most) {
                reporter(context)(risk, `a lower risk needs ${most} yeses, so this one cannot need fewer.`)
              }
              most = Math.max(most, needed)
            }
          }),
      ])
      .transform((value): Quorum => {
        if (typeof value === 'number') return sameForEveryRisk(value)
        const { low = 1 } = value
        const { high = low } = value
        const { critical = high } = value
        return { low, high, critical }
      }),
    description,
    { critical: 2 },
    'a number of people from 1 to 20, or one for each of low, high and critical',
  )
