// Turns the issues of a schema into problems with JSON pointers.

import type { z } from 'zod'
import { type InputProblem, MAX_PROBLEMS } from '../../../domain/errors.ts'
import { LONG_CHARS, LongText } from '../../../http/body/long-text.ts'

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

// A union fails in every branch. The branch that got furthest is probably the one that was meant.
function deepest(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (branch: readonly Issue[]) => Math.max(0, ...branch.slice(0, MAX_PROBLEMS).map((i) => i.path.length))
  return branches.reduce<readonly Issue[]>((best, next) => (depth(next) > depth(best) ? next : best), [])
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
