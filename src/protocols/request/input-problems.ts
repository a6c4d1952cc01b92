// What a schema found wrong with a request -> problems with JSON pointers. Every door that validates with zod uses it.

import type { z } from 'zod'
import type { InputProblem } from '../../domain/errors.ts'

/** More than this helps nobody, and a hostile body can be wrong in a million places. */
const MAX_PROBLEMS = 20

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

export function inputProblems(issues: readonly Issue[], base: Path = []): InputProblem[] {
  return issues.slice(0, MAX_PROBLEMS).flatMap((issue) => problemsOf(issue, base))
}

export function jsonPointer(path: Path): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

function problemsOf(issue: Issue, base: Path): InputProblem[] {
  const path = [...base, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, MAX_PROBLEMS)
      .map((key) => ({ pointer: jsonPointer([...path, key]), detail: 'Unknown key: leave it out.' }))
  }
  if (issue.code === 'invalid_union') {
    const branch = deepest(issue.errors)
    if (branch.length > 0) return inputProblems(branch, path)
  }
  return [{ pointer: jsonPointer(path), detail: issue.message }]
}

// A union fails in each of its branches; the one that came furthest is the one that was meant.
function deepest(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (branch: readonly Issue[]) => Math.max(0, ...branch.slice(0, MAX_PROBLEMS).map((i) => i.path.length))
  return branches.reduce<readonly Issue[]>((best, next) => (depth(next) > depth(best) ? next : best), [])
}
