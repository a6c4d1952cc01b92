import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { connectionCode } from '../../outgoing/connection-failure.ts'
import { dropped, type ModelTarget, modelFailure, reportedFailure, statusFailure, unreachable } from '../failure.ts'
import { textAt } from '../wire/json.ts'

/** The failure for anything that a provider package throws, or sends as an error part. */
export function providerFailure(error: unknown, target: ModelTarget, now: number): ServerError {
  if (error instanceof ServerError) return error
  const code = codeOf(error)
  if (code !== undefined)
    return unreachable({ code: connectionCode({ code, message: textAt(error, 'message') }) }, target)
  if (!isRecord(error)) return reportedFailure(typeof error === 'string' ? error : undefined, target)
  if (typeof error.statusCode === 'number') {
    const headers = isRecord(error.responseHeaders) ? headersOf(error.responseHeaders) : {}
    return statusFailure({ status: error.statusCode, headers, body: textAt(error, 'responseBody') }, target, now)
  }
  if (error.name === 'AI_LoadAPIKeyError') {
    const message = `${textAt(error, 'message')} Or write ${target.under}.api_key in the agent's file.`
    return modelFailure('model_auth_failed', message, target, { retryable: false })
  }
  if (error.name === 'AI_APICallError') return unreachable({}, target)
  if (!(error instanceof Error)) return reportedFailure(isRecord(error.error) ? error.error : error, target)
  if (INCOMPLETE.includes(error.name)) return dropped(target, error)
  // Other errors of the AI SDK mean that the package or its provider cannot handle the request.
  if (error.name.startsWith('AI_')) {
    return reportedFailure({ type: 'invalid_request_error', message: error.message }, target)
  }
  // A bug in the package, or in how we use it. Its text is not meant for users.
  const message = `The package ${target.provider} failed. See the log. Another version of the package may help.`
  return modelFailure('model_failed', message, target, { retryable: false, cause: error })
}

const INCOMPLETE = [
  'AI_EmptyResponseBodyError',
  'AI_InvalidResponseDataError',
  'AI_JSONParseError',
  'AI_TypeValidationError',
]

/** The system's error code, from anywhere in the chain of causes, because fetch wraps it. */
function codeOf(error: unknown, depth = 0): string | undefined {
  if (!isRecord(error) || depth > 4) return undefined
  if (typeof error.code === 'string' && /^(E[A-Z_]+|UND_ERR_[A-Z_]+|CERT_\w+)$/.test(error.code)) return error.code
  return codeOf(error.cause, depth + 1)
}

function headersOf(headers: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    ),
  )
}
