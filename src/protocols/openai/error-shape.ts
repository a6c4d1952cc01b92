// Errors in OpenAI's format, with our codes.

import { z } from 'zod'
import { type ErrorCode, type InputProblem, isErrorCode, type ServerError } from '../../domain/errors.ts'
import type { ErrorShape } from '../../http/problem.ts'
import { statusOf } from '../../http/status.ts'
import type { StatusOverrides } from '../shared/answer/answer-failure.ts'

/** `param` says where the request is wrong: `messages[0].content`. */
const ErrorSchema = z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() })

type OpenAiError = z.infer<typeof ErrorSchema>

export const ErrorBodySchema = z.object({ error: ErrorSchema })

/**
 * Popular clients send a request again by themselves: `openai` and `ai` after 408, 409, 429 and 5xx, LangChain after everything but
 * 400 to 407, 409 and 413. Each time a new run would do its work again. So what another try cannot change is 400 here.
 */
const statusHere: StatusOverrides = {
  unsupported_media_type: 400,
  file_unreadable: 400,
  header_too_large: 400,
  route_moved: 400,
  not_available_yet: 400,
  host_not_allowed: 400,
  events_gone: 400,
  approval_expired: 400,
  tool_call_expired: 400,
  run_in_progress: 400,
  approval_pending: 400,
  approval_decided: 400,
  approval_changed: 400,
  tool_call_answered: 400,
  session_supervised: 400,
  session_paused: 400,
  session_ended: 400,
  record_decided: 400,
  no_channel: 400,
  not_approved: 400,
  already_consumed: 400,
  restore_unconfirmed: 400,
  idempotency_mismatch: 400,
  run_fenced: 400,
  patch_conflict: 400,
  conflict: 400,
  budget_exceeded: 400,
  needs_review: 400,
  cancelled: 400,
  tool_failed: 400,
  // The model has had a second try already.
  invalid_answer: 400,
  model_auth_failed: 400,
  model_not_found: 400,
  model_refused: 400,
  model_bad_request: 400,
}

/** `isFinal`: the same code can mean "later" and "never". An account without quota is rate limited for good. */
function shownStatus(code: ErrorCode, isFinal: unknown): number {
  const status = statusHere[code] ?? statusOf[code]
  return isFinal === true && status >= 500 ? 400 : status
}

/** For every error under `/v1`, including unknown routes, wrong methods and malformed JSON. */
export const openAiErrorShape: ErrorShape = ({ status, detail, code, errors, is_final }) => {
  const shown = isErrorCode(code) ? shownStatus(code, is_final) : status
  return {
    status: shown,
    contentType: 'application/json',
    body: { error: errorObject(code, shown, detail, errors ?? []) },
  }
}

/** An error inside a stream, whose status is already sent. */
export const errorOf = (error: ServerError): OpenAiError =>
  errorObject(error.code, shownStatus(error.code, error.details.is_final), error.message, error.problems)

function errorObject(code: string, status: number, detail: string, problems: readonly InputProblem[]): OpenAiError {
  const [first] = problems
  return {
    message: [detail, ...problems.map(sentenceOf)].join(' '),
    type: typeOf(status),
    param: first === undefined ? null : paramOf(first),
    // An agent is a model here, and OpenAI's clients know this code.
    code: code === 'agent_not_found' ? 'model_not_found' : code,
  }
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

function sentenceOf(problem: InputProblem): string {
  const param = paramOf(problem)
  return param === null ? problem.detail : `${param}: ${problem.detail}`
}

/** `/messages/0/content` → `messages[0].content`; a header's name stays as it is; the whole body is null. */
function paramOf({ pointer }: InputProblem): string | null {
  if (pointer === '') return null
  const keys = pointer.split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return keys.reduce((path, key) => {
    if (path === '') return key
    return /^\d+$/.test(key) ? `${path}[${key}]` : `${path}.${key}`
  })
}
