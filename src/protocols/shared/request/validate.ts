import { z } from 'zod'
import { MAX_PROBLEMS } from '../../../domain/errors.ts'

export type Validated<T> = { success: true; data: T } | { success: false; issues: z.core.$ZodIssue[] }

/** A value with at most this many members is checked completely. A body can have 100,000, each with several errors. */
const MANY_VALUES = 1_000

type Context = z.core.ParseContextInternal<z.core.$ZodIssue>

const WHOLE: Context = { async: false }
/** Stops a list at its first wrong item, as zod does by itself with `abortEarly`. */
const UP_TO_FIRST: Context = { async: false, abortEarly: true }

/**
 * Checks a client's value against a schema and reports up to 20 issues. `safeParse` would collect all of them, and a body with 100,000
 * errors would block the event loop for seconds.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown): Validated<T> {
  const first = run(schema, value, UP_TO_FIRST)
  if (first.issues.length === 0) return { success: true, data: first.value }
  const { issues } = hasMoreThan(MANY_VALUES, value) ? first : run(schema, value, WHOLE)
  const config = z.core.config()
  return {
    success: false,
    issues: issues.slice(0, MAX_PROBLEMS).map((issue) => z.core.util.finalizeIssue(issue, WHOLE, config)),
  }
}

function run<T>(schema: z.ZodType<T>, value: unknown, context: Context): z.core.ParsePayload<T> {
  const result = schema._zod.run({ value, issues: [] }, context)
  if (result instanceof Promise) throw new Error('a schema of a request cannot wait')
  return result as z.core.ParsePayload<T>
}

function hasMoreThan(limit: number, root: unknown): boolean {
  const open = [root]
  let count = 0
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue
    for (const member of Object.values(value)) {
      count += 1
      if (count > limit) return true
      open.push(member)
    }
  }
  return false
}
