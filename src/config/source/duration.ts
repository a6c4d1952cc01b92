import { z } from 'zod'

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

const isUnit = (unit: string | undefined): unit is keyof typeof unitSeconds =>
  unit !== undefined && Object.hasOwn(unitSeconds, unit)

export interface DurationWords {
  description: string
  example: number | string
  /** 0 is allowed and has a special meaning. */
  zero?: boolean
}

export const durationExpectation = (zero: boolean): string =>
  `${zero ? 'zero or more' : ''} seconds, or a time such as "30s", "15m" or "2h", at most 24 days`.trimStart()

/** Whether a written time span is in the allowed range. */
export function isSpan(span: number | string, zero: boolean): boolean {
  const seconds = secondsOf(span)
  return (zero ? seconds >= 0 : seconds > 0) && seconds <= MAX_SECONDS
}

/** The schema of a written time span, without a check of its range. */
export const spanInput = () => z.union([z.number(), z.string().regex(DURATION)])

/** The schema of a key that holds a time span. Its output is in seconds. */
export function duration({ description, example, zero = false }: DurationWords) {
  return spanInput()
    .refine((span) => isSpan(span, zero), { error: '' })
    .meta({ description, example, expected: durationExpectation(zero) })
    .transform(secondsOf)
}
