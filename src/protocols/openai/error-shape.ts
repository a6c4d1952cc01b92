// Errors in OpenAI's format, with our codes.

import type { InputProblem, ServerError } from '../../domain/errors.ts'
import type { ErrorShape } from '../../http/problem.ts'
import { statusOf } from '../../http/status.ts'

interface OpenAiError {
  message: string
  type: string
  /** Where the request is wrong: `messages[0].content`. */
  param: string | null
  code: string
}

/** For every error under `/v1`, including unknown routes, wrong methods and malformed JSON. */
export const openAiErrorShape: ErrorShape = ({ status, detail, code, errors }) => {
  const shown = code === 'approval_pending' ? NOT_AGAIN : status
  return {
    status: shown,
    contentType: 'application/json',
    body: { error: errorObject(code, shown, detail, errors ?? []) },
  }
}

/** OpenAI's clients repeat a request after a 409. Each time a new run would ask a person again. */
const NOT_AGAIN = 422

/** An error inside a stream, whose status is already sent. */
export const errorOf = (error: ServerError): OpenAiError =>
  errorObject(error.code, statusOf[error.code], error.message, error.problems)

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
