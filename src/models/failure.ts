// Gives every failure of a provider one of our codes. All providers, and the servers that imitate them, in one place, because a
// gateway may answer in the shape of any of them. Only the message of a provider's error is passed on, nothing else of its answer.

import type { ModelSettings } from '../domain/agent/agent.ts'
import { type ErrorCode, ServerError } from '../domain/errors.ts'
import { present } from '../domain/present.ts'
import { CONNECT_TIMEOUT, PROXY_REFUSED } from '../outgoing/connection-failure.ts'
import type { Under } from './provider-access.ts'
import { type ErrorReport, OVERFLOW, readReport, reportOf, retryAfterSeconds, statusOf } from './wire/error-report.ts'
import type { HttpAnswer, HttpConnectionError } from './wire/http-errors.ts'
import { parseObject } from './wire/json.ts'

/** The model and server that a failure is about. */
export interface ModelTarget {
  provider: string
  model: string
  /** Host and port of the server. Path and query may hold secrets and are never shown. */
  host: string
  /** The environment variable, or variables, for the key. */
  keyVariable: string
  /** The key of the agent's file that describes it. */
  under: Under
  /** Needed only to mask it when a server repeats it. */
  apiKey?: string | undefined
}

export const targetOf = (
  { provider, name, apiKey }: Pick<ModelSettings, 'provider' | 'name' | 'apiKey'>,
  host: string,
  keyVariable: string,
  under: Under,
): ModelTarget => ({
  provider,
  model: name,
  host,
  keyVariable,
  under,
  apiKey: apiKey === 'none' ? undefined : apiKey,
})

/**
 * `details.retryable`: the same request may succeed later, or elsewhere. `details.connectTimeout`: no connection could be made within
 * the connect timeout.
 */
export function modelFailure(
  code: ErrorCode,
  message: string,
  target: Pick<ModelTarget, 'provider' | 'model'>,
  options: {
    retryable: boolean
    status?: number
    retryAfter?: number | undefined
    connectTimeout?: boolean
    cause?: unknown
  },
): ServerError {
  const { provider, model } = target
  const { cause, connectTimeout, ...facts } = options
  const details = present({ provider, model, ...facts, connectTimeout: connectTimeout || undefined })
  return new ServerError(code, message, { details, cause })
}

/** An HTTP status of 300 or more. */
export function statusFailure(answer: HttpAnswer, target: ModelTarget, now: number): ServerError {
  const report = readReport(answer.body)
  const retryAfter = retryAfterSeconds(answer.headers, now) ?? report.retryAfter
  const { location } = answer.headers
  if (answer.status < 400 && typeof location === 'string') return redirectFailure(answer.status, location, target)
  return classify(answer.status, report, target, retryAfter)
}

/** Redirects are not followed, because the key would go to a server that nobody has approved. */
function redirectFailure(status: number, location: string, target: ModelTarget): ServerError {
  const url = URL.parse(location)
  // The query may hold a key.
  const where = quote(url === null ? (location.split(/[?#]/)[0] ?? '') : `${url.origin}${url.pathname}`, target)
  const message = `The server at ${target.host} redirects (${status}) to ${where}. The key was not sent there. Set base_url to the new address if you trust it.`
  return modelFailure('model_bad_request', message, target, { retryable: false, status })
}

/** An error object inside a stream that began without an error. */
export function reportedFailure(error: unknown, target: ModelTarget): ServerError {
  const report = reportOf(error)
  return classify(statusOf(report), report, target, report.retryAfter)
}

/** The model, or a content filter, declined. `explanation` is the provider's text, or ''. */
export function refusal(explanation: string, target: ModelTarget): ServerError {
  const said = quote(explanation, target)
  return modelFailure('model_refused', `The model declined to answer${said === '' ? '.' : `: ${said}`}`, target, {
    retryable: false,
  })
}

/** What is known about the failure. Provider packages give at most the code. */
type NoConnection = Partial<Pick<HttpConnectionError, 'code' | 'proxy' | 'connectTimeoutMs' | 'address'>>

/** The connection could not be made, or broke before an answer began. */
export function unreachable(error: NoConnection, target: ModelTarget): ServerError {
  const { code = '', proxy = null } = error
  const isTimeout = code === CONNECT_TIMEOUT
  const message = code.startsWith(PROXY_REFUSED)
    ? proxyRefusal(code.slice(PROXY_REFUSED.length), proxy, target)
    : isTimeout
      ? noConnection(error, target)
      : proxy === null
        ? `The model server at ${target.host} cannot be reached (${connectionReason(code)}). Is it running? Check base_url and the network.`
        : `The model server at ${target.host} cannot be reached through the proxy ${proxy} (${connectionReason(code)}). Check the proxy, or exempt the server with NO_PROXY.`
  // A proxy that refuses with a 4xx status will refuse again.
  const retryable = !/^PROXY_REFUSED_4/.test(code)
  return modelFailure('model_unreachable', message, target, { retryable, connectTimeout: isTimeout, cause: error })
}

function noConnection({ connectTimeoutMs, proxy = null, address }: NoConnection, target: ModelTarget): string {
  const host = address ?? target.host
  const time = typeof connectTimeoutMs === 'number' ? ` within ${connectTimeoutMs / 1000} s` : ''
  const who = proxy === null ? host : `${host} through the proxy ${proxy}`
  return `No connection could be made to ${who}${time}: no server answers there. Check base_url, the network and whether a proxy is needed (HTTPS_PROXY, ${target.under}.proxy).`
}

function proxyRefusal(status: string, proxy: string | null, { host }: ModelTarget): string {
  if (status === '407') {
    return `The proxy ${proxy} requires a name and a password (407). Add them to its address: http://name:password@host:port`
  }
  return `The proxy ${proxy} did not connect to ${host} (${status}). Allow the server in the proxy, or exempt it with NO_PROXY.`
}

/** The stream ended or broke before the model had finished. */
export function dropped(target: ModelTarget, cause?: unknown): ServerError {
  return modelFailure(
    'model_stream_dropped',
    `The model server at ${target.host} ended the answer half-way. Try again. If it happens again, check that server.`,
    target,
    { retryable: true, cause },
  )
}

/** A status of 200 with a body that is not an event stream. */
export function notAStream(answer: HttpAnswer, target: ModelTarget): ServerError {
  const body = parseObject(answer.body)
  if (body?.error !== undefined) return reportedFailure(body.error, target)
  const encoding = answer.headers['content-encoding']
  const isEncoded = typeof encoding === 'string' && encoding !== '' && encoding.toLowerCase() !== 'identity'
  const problem = isEncoded
    ? `compressed its answer with an encoding that was not asked for (${quote(encoding, target)}). Switch it off there, or in the proxy in front of it.`
    : 'did not answer with an event stream. Check that base_url is the address of a model API (most end in /v1).'
  const message = `The server at ${target.host} ${problem}`
  return modelFailure('model_bad_request', message, target, { retryable: false, status: answer.status })
}

const QUOTA =
  /insufficient[ _](quota|balance|credits|funds)|billing|credit balance is too low|exceeded your current quota/i
const UNKNOWN_MODEL =
  /model_?not_?found|deploymentnotfound|invalid model|model.{0,80}(not exist|not found|does not exist)/i
const BAD_KEY =
  /(invalid|incorrect|not valid|missing|expired).{0,30}api[ _-]?key|api[ _-]?key.{0,30}(invalid|incorrect|not valid|missing|expired)/i
const FILTERED = /content_filter|content_policy|responsibleaipolicyviolation/

function classify(
  status: number,
  report: ErrorReport,
  target: ModelTarget,
  retryAfter: number | undefined,
): ServerError {
  const text = `${report.kind} ${report.message}`
  const said = quote(report.message, target)
  const because = said === '' ? '' : ` It says: ${said}`
  const fail = (code: ErrorCode, message: string, retryable: boolean) =>
    modelFailure(code, `${message}${because}`, target, { retryable, status, retryAfter })

  if (status < 400) {
    return fail(
      'model_bad_request',
      `The server at ${target.host} redirects (${status}). Set base_url to the new address.`,
      false,
    )
  }
  if (status >= 500) return fail('model_failed', `The model server at ${target.host} failed (${status}).`, true)
  if (FILTERED.test(report.kind)) return refusal(report.message, target)
  if (status === 402 || ((status === 429 || status === 400) && QUOTA.test(text))) {
    return fail(
      'model_rate_limited',
      `The account at ${target.host} has no quota left. Check its plan and billing.`,
      false,
    )
  }
  if (status === 429)
    return fail('model_rate_limited', `The model server at ${target.host} is limiting requests.`, true)
  if (status === 408)
    return fail('model_failed', `The model server at ${target.host} timed out waiting for the request (408).`, true)
  if (status === 413 || OVERFLOW.test(text)) {
    return fail(
      'model_context_overflow',
      `${target.under === 'model' ? 'The conversation' : 'A text'} is too long for the model ${target.model}.`,
      false,
    )
  }
  if (status === 404 || UNKNOWN_MODEL.test(text)) {
    return fail(
      'model_not_found',
      `The server at ${target.host} has no model ${JSON.stringify(target.model)}${said === '' ? ` under this base_url (${status})` : ''}. Check ${target.under}.name and ${target.under}.base_url.`,
      false,
    )
  }
  if (status === 401 || status === 403 || BAD_KEY.test(text)) {
    return fail(
      'model_auth_failed',
      `The model server at ${target.host} refused the key (${status}). Check ${target.keyVariable}, or ${target.under}.api_key in the agent's file.`,
      false,
    )
  }
  return fail('model_bad_request', `The model server at ${target.host} refused the request (${status}).`, false)
}

/** One line of at most 500 characters, without anything that looks like a key. */
function quote(message: string, target: ModelTarget): string {
  let text = message
  if (target.apiKey !== undefined && target.apiKey.length > 3) text = text.replaceAll(target.apiKey, '***')
  text = text
    .replace(/\b(sk|gsk|xai|AIza|key)[-_A-Za-z0-9]*[-_*][-_*A-Za-z0-9]{8,}/g, '***')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return text.length > 500 ? `${text.slice(0, 499).toWellFormed()}…` : text
}

function connectionReason(code: unknown): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its name cannot be resolved'
    case 'ECONNRESET':
    case 'EPIPE':
      return 'connection reset'
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return 'it does not speak TLS; is its address http://?'
    case 'BAD_ENCODING':
      return 'its answer cannot be decompressed'
    case 'UND_ERR_PRX_TLS':
      return 'the certificate of the proxy is not trusted'
    case 'BAD_HTTP':
      return 'its answer is not valid HTTP/1.1'
    case 'CERT_HAS_EXPIRED':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `its certificate is not trusted: ${code}`
    default:
      return typeof code === 'string' && code !== '' ? code : 'network error'
  }
}
