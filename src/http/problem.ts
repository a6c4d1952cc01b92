// Failures on the wire: RFC 9457 problem details, and the seam for doors that speak another shape.

import { type InputProblem, MAX_PROBLEMS, ServerError } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import { statusOf, titleOf } from './status.ts'

export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  /** The path that was asked for; absent where the request could not be read. */
  instance?: string
  code: string
  correlation_id: string
  errors?: readonly InputProblem[]
  /** The error's details. They never replace a member above. */
  [detail: string]: unknown
}

/** How a door with an error format of its own answers a problem. */
export type ErrorShape = (problem: Problem) => ShapedError

export interface ShapedError {
  status: number
  contentType: string
  body: unknown
}

export const problemShape: ErrorShape = (problem) => ({
  status: problem.status,
  contentType: 'application/problem+json',
  body: problem,
})

const MAX_INSTANCE = 2_048
/** A name in a body can have a megabyte. */
const MAX_POINTER = 500

export function problemOf(error: ServerError, request: { path: string | null; correlationId: string }): Problem {
  return {
    ...error.details,
    type: `https://quarterdeck.dev/errors/${error.code}`,
    title: titleOf(error.code),
    status: statusOf[error.code],
    detail: error.message,
    ...(request.path === null ? {} : { instance: request.path.slice(0, MAX_INSTANCE) }),
    code: error.code,
    correlation_id: request.correlationId,
    ...(error.problems.length === 0 ? {} : { errors: error.problems.slice(0, MAX_PROBLEMS).map(shortened) }),
  }
}

const shortened = ({ pointer, detail }: InputProblem): InputProblem => ({
  pointer: pointer.slice(0, MAX_POINTER),
  detail,
})

/** What a client may be told of anything that was thrown. An unexpected error is logged; its own text stays here. */
export function asServerError(error: unknown, log: Logger): ServerError {
  if (error instanceof ServerError) return error
  log.error('unexpected error', { error })
  return new ServerError(
    'internal_error',
    'The server failed to answer. Its log has the reason under the correlation id.',
  )
}

/** The headers that belong to a problem's status. */
export function problemHeaders(problem: Problem): Record<string, string> {
  switch (problem.status) {
    case 401:
      return { 'WWW-Authenticate': 'Bearer realm="quarterdeck"' }
    case 405:
      return Array.isArray(problem.allow) ? { Allow: problem.allow.join(', ') } : {}
    case 429:
    case 503:
      return { 'Retry-After': retryAfter(problem.retry_after_seconds) }
    default:
      return {}
  }
}

function retryAfter(seconds: unknown): string {
  return String(typeof seconds === 'number' && seconds > 1 ? Math.ceil(seconds) : 1)
}
