// What a provider says about an error, read from any of the shapes that providers, gateways and compatible servers send.

import { isRecord } from '../../domain/is-record.ts'
import { jsonIn } from '../../domain/json-in.ts'
import type { HttpAnswer } from './http-errors.ts'
import { type JsonObject, textAt } from './json.ts'

export interface ErrorReport {
  message: string
  /** Everything that names the kind of error, lower case, joined by spaces. */
  kind: string
  /** An HTTP status that stands in the report itself. */
  status: number | undefined
  /** Seconds to wait before the next request. */
  retryAfter: number | undefined
}

const EMPTY: ErrorReport = { message: '', kind: '', status: undefined, retryAfter: undefined }

/** The report in the body of an HTTP answer. */
export function readReport(body: string): ErrorReport {
  const value = jsonIn(body)
  // Gemini without SSE wraps its error in a list.
  const first: unknown = Array.isArray(value) ? value[0] : value
  if (!isRecord(first)) return EMPTY
  // Mistral and old versions of vLLM do not wrap theirs in `error`.
  return reportOf(first.error === undefined ? first : first.error)
}

/** The report in an error object, or in a bare text. */
export function reportOf(error: unknown): ErrorReport {
  if (typeof error === 'string') return { ...EMPTY, message: error }
  if (!isRecord(error)) return EMPTY
  const kinds = [error.type, error.code, error.status, isRecord(error.innererror) ? error.innererror.code : undefined]
  return {
    message: messageOf(error),
    kind: kinds
      .filter((kind) => typeof kind === 'string')
      .join(' ')
      .toLowerCase(),
    status: typeof error.code === 'number' && error.code >= 400 && error.code < 600 ? error.code : undefined,
    retryAfter: retryDelay(error.details),
  }
}

/** FastAPI servers send `detail`, a text or a list of `{loc, msg}`. Mistral puts that list under `message`. */
function messageOf(error: JsonObject): string {
  for (const value of [error.message, error.detail, error.msg]) {
    if (typeof value === 'string' && value !== '') return value
    const list: unknown = isRecord(value) ? value.detail : value
    if (!Array.isArray(list)) continue
    const problems = list.map((item) => {
      const place: unknown = isRecord(item) ? item.loc : undefined
      return `${Array.isArray(place) ? place.join('.') : ''} ${textAt(item, 'msg')}`.trim()
    })
    if (problems.some((problem) => problem !== '')) return problems.join('; ')
  }
  return ''
}

/** How providers say that a conversation is too long for the model. */
export const OVERFLOW =
  /context[ _](length|window|size|limit)|maximum (context|prompt) length|(prompt|input) is too long|exceeds? the maximum number of tokens|too many (input )?tokens|request_too_large/i

const STATUS_OF_KIND: readonly (readonly [RegExp, number])[] = [
  [/overloaded/, 529],
  [/rate_limit|resource_exhausted|insufficient_quota/, 429],
  [/authentication|unauthenticated|invalid_api_key/, 401],
  [/permission/, 403],
  [/not_?found/, 404],
  [/request_too_large/, 413],
  [/invalid|failed_precondition|context_length|exceed_context|bad_?request|content_filter/, 400],
]

/** The HTTP status that fits the report; 500 when the kind of error is unknown. */
export function statusOf(report: ErrorReport): number {
  if (report.status !== undefined) return report.status
  const known = STATUS_OF_KIND.find(([pattern]) => pattern.test(report.kind))
  if (known !== undefined) return known[1]
  return OVERFLOW.test(report.message) ? 400 : 500
}

/** Gemini sends the time to wait in a `RetryInfo` detail: `retryDelay: "34s"`. */
function retryDelay(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined
  for (const detail of details) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textAt(detail, 'retryDelay'))?.[1]
    if (seconds !== undefined) return Number(seconds)
  }
  return undefined
}

/** Seconds to wait, from `retry-after-ms` or `retry-after` (seconds or a date); undefined without such a header. */
export function retryAfterSeconds(headers: HttpAnswer['headers'], now: number): number | undefined {
  const ms = numberOf(headers['retry-after-ms'])
  if (ms !== undefined) return ms / 1000
  const seconds = numberOf(headers['retry-after'])
  if (seconds !== undefined) return seconds
  const header = headers['retry-after']
  if (typeof header !== 'string') return undefined
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1000)
}

function numberOf(header: HttpAnswer['headers'][string]): number | undefined {
  if (typeof header !== 'string' || header.trim() === '') return undefined
  const number = Number(header)
  return Number.isFinite(number) && number >= 0 ? number : undefined
}
