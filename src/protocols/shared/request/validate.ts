import { z } from 'zod'
import { type InputProblem, MAX_PROBLEMS, ServerError } from '../../../domain/errors.ts'
import { LONG_CHARS, LongText } from '../../../http/body/long-text.ts'

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

/** The body of a request. Throws `invalid_request` with this message, and with what is wrong where. */
export function validBody<T>(schema: z.ZodType<T>, body: unknown, refusal: string): T {
  const parsed = validate(schema, body)
  if (parsed.success) return parsed.data
  throw new ServerError('invalid_request', refusal, { problems: inputProblems(parsed.issues, body) })
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

// Turns the issues of a schema into problems with JSON pointers.

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** `input` is the checked value, if it may contain files. It is at `base` in the body. */
export function inputProblems(issues: readonly Issue[], input?: unknown, base: Path = []): InputProblem[] {
  return issues
    .slice(0, MAX_PROBLEMS)
    .flatMap((issue) => problemsOf(issue, input, base))
    .slice(0, MAX_PROBLEMS)
}

/** For data that no schema describes. It is stored unchanged, which is not possible for a `LongText`. */
export function longTextProblems(value: unknown, path: Path): InputProblem[] {
  const found = findLongText(value)
  return found === null ? [] : [longTextProblem(found.text, [...path, ...found.path])]
}

export function jsonPointer(path: Path): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

function problemsOf(issue: Issue, input: unknown, base: Path): InputProblem[] {
  const path = [...base, ...issue.path]
  let judged = input
  for (const [depth, key] of [...issue.path, ''].entries()) {
    if (judged instanceof LongText) return [longTextProblem(judged, path.slice(0, base.length + depth))]
    if (depth < issue.path.length) judged = memberOf(judged, key)
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, MAX_PROBLEMS)
      .map((key) => ({ pointer: jsonPointer([...path, key]), detail: 'Unknown key: leave it out.' }))
  }
  if (issue.code === 'invalid_union') {
    const branch = deepest(issue.errors)
    if (branch.length > 0) return inputProblems(branch, judged, path)
  }
  return [{ pointer: jsonPointer(path), detail: issue.message }]
}

// A union fails in every branch. The branch that got furthest is probably the one that was meant. If none got anywhere, it is the one
// with the right type: a text that is too long is not a wrong list.
function deepest(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (branch: readonly Issue[]) => Math.max(0, ...branch.slice(0, MAX_PROBLEMS).map((i) => i.path.length))
  const ofRightType = branches.find((branch) => branch.length > 0 && branch.every(({ code }) => code === 'custom'))
  return branches.reduce((best, next) => (depth(next) > depth(best) ? next : best), ofRightType ?? [])
}

const memberOf = (value: unknown, key: PropertyKey): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined

const longTextProblem = ({ chars }: LongText, path: Path): InputProblem => ({
  pointer: jsonPointer(path),
  detail: `This looks like a file (${chars} characters of base64), but no file is allowed here. Other texts have at most ${LONG_CHARS} characters.`,
})

function findLongText(value: unknown): { text: LongText; path: PropertyKey[] } | null {
  if (value instanceof LongText) return { text: value, path: [] }
  if (typeof value !== 'object' || value === null) return null
  for (const key in value) {
    const found = findLongText(memberOf(value, key))
    if (found !== null) return { text: found.text, path: [key, ...found.path] }
  }
  return null
}
