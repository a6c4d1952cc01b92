// Turns a run that did not complete into an error.

import { type ErrorCode, isErrorCode, ServerError } from '../../../domain/errors.ts'
import type { RunError } from '../../../domain/session/run.ts'
import type { RunAnswer } from '../../../domain/session/run-answer.ts'
import { type ErrorShape, type Problem, problemOf, problemShape } from '../../../http/problem.ts'
import type { Route } from '../../../http/route.ts'
import { runErrors } from './error-lists.ts'

/** Statuses of a protocol that differ from `http/status.ts`. */
export type StatusOverrides = Partial<Readonly<Record<ErrorCode, number>>>

/** Every failure of a run has this status. */
export const runFailuresAs = (status: number): StatusOverrides =>
  Object.fromEntries(runErrors.filter((code) => !hasOwnStatus.has(code)).map((code) => [code, status]))

/** They say what became of the run, and not that it failed. */
const hasOwnStatus: ReadonlySet<ErrorCode> = new Set(['interrupted', 'needs_review', 'cancelled', 'internal_error'])

/** Null for a run that completed or waits. */
export function failureOf(
  { outcome, error }: Pick<RunAnswer, 'outcome' | 'error'>,
  details: Record<string, unknown> = {},
): ServerError | null {
  if (outcome === 'completed' || outcome === 'waiting') return null
  return runFailure(error ?? { code: 'cancelled', message: CANCELLED }, details)
}

const CANCELLED = 'The run was stopped before its answer was complete.'

/** The error of a run. Only middleware can produce a code that is not ours. */
export function runFailure({ code, message }: RunError, details: Record<string, unknown> = {}): ServerError {
  return new ServerError(isErrorCode(code) ? code : 'internal_error', message, { details })
}

/** For `reply.fail`: a problem with the status of the protocol. */
export function problemShapeWith(overrides: StatusOverrides): ErrorShape {
  return (problem) => problemShape(withStatus(problem, overrides))
}

/** What the route throws is answered in this shape. */
export const failingAs =
  (shape: ErrorShape, handle: Route['handle']): Route['handle'] =>
  (request, reply) =>
    handle(request, reply).catch((error: unknown) => reply.fail(error, shape))

/** The problem for an event of an open stream. */
export function streamProblem(
  error: ServerError,
  request: { path: string; correlationId: string },
  overrides: StatusOverrides = {},
): Problem {
  return withStatus(problemOf(error, request), overrides)
}

function withStatus(problem: Problem, overrides: StatusOverrides): Problem {
  const status = isErrorCode(problem.code) ? overrides[problem.code] : undefined
  return status === undefined ? problem : { ...problem, status }
}
