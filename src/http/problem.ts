// Failures on the wire: RFC 9457 problem details. Doors with another error format bring an `ErrorShape`.

import { type InputProblem, MAX_PROBLEMS, ServerError } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import { present } from '../domain/present.ts'
import { statusOf, titleOf } from './status.ts'

export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  /** The requested path. Missing if the request could not be read. */
  instance?: string
  code: string
  correlation_id: string
  errors?: readonly InputProblem[]
  /** Details of the error. They never replace a member above. */
  [detail: string]: unknown
}

/** Turns a problem into the error format of a door. */
export type ErrorShape = (problem: Problem) => { status: number; contentType: string; body: unknown }

export const problemShape: ErrorShape = (problem) => ({
  status: problem.status,
  contentType: 'application/problem+json',
  body: problem,
})

const MAX_INSTANCE = 2_048
/** A key in a body can be a megabyte long. */
const MAX_POINTER = 500

export function problemOf(error: ServerError, request: { path: string | null; correlationId: string }): Problem {
  const errors = error.problems.slice(0, MAX_PROBLEMS).map(shortened)
  return {
    ...error.details,
    type: `https://quarterdeck.dev/errors/${error.code}`,
    title: titleOf(error.code),
    status: statusOf[error.code],
    detail: error.message,
    ...present({ instance: request.path?.slice(0, MAX_INSTANCE) }),
    code: error.code,
    correlation_id: request.correlationId,
    ...present({ errors: errors.length === 0 ? undefined : errors }),
  }
}

const shortened = ({ pointer, detail }: InputProblem): InputProblem => ({
  pointer: pointer.slice(0, MAX_POINTER),
  detail,
})

/** Makes an error that is safe to show. An unexpected error is logged, and its text never reaches the client. */
export function asServerError(error: unknown, log: Logger): ServerError {
  if (error instanceof ServerError) return error
  log.error('unexpected error', { error })
  return new ServerError(
    'internal_error',
    'The server could not answer. Look for the correlation id in its log to find the reason.',
  )
}

/** A header that leads people to the row of this code. The server serves the page itself, so it works without internet. */
export const helpLink = (code: string): string => `</docs/look-up/errors.md#${code}>; rel="help"`

/** The headers that belong to a problem's status. */
export function problemHeaders(problem: Problem): Record<string, string> {
  switch (problem.status) {
    case 401:
      return { 'WWW-Authenticate': `Bearer realm="quarterdeck"${tokenFault(problem)}` }
    case 403:
      return typeof problem.scope === 'string' ? { 'WWW-Authenticate': scopeFault(problem.scope) } : {}
    case 405:
      return Array.isArray(problem.allow) ? { Allow: problem.allow.join(', ') } : {}
    case 429:
    case 503:
    // A full disk: somebody makes space.
    case 507:
      return { 'Retry-After': retryAfter(problem.retry_after_seconds) }
    default:
      return {}
  }
}

/** As RFC 6750 has it: only for a token that was sent and cannot be used. */
function tokenFault({ code, reason, detail }: Problem): string {
  if (code !== 'unauthorized' || typeof reason !== 'string') return ''
  return `, error="invalid_token", error_description="${detail.replace(/[^\x20-\x7e]|["\\]/g, '')}"`
}

const scopeFault = (scope: string): string =>
  `Bearer realm="quarterdeck", error="insufficient_scope", scope="${scope.replace(/\W/g, '')}"`

function retryAfter(seconds: unknown): string {
  return String(typeof seconds === 'number' && seconds > 1 ? Math.ceil(seconds) : 1)
}
