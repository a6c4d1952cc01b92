import type { Effect } from '../../../domain/agent/tool-settings.ts'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import type { Logger } from '../../../domain/logger.ts'
import { traceHeaders } from '../../../domain/telemetry.ts'
import type { ToolCallRequest, ToolOutcome } from '../../tool.ts'
import type { ServiceAnswer, ServiceHttp, ServiceRequest } from './service-http.ts'

export interface HttpToolDeps {
  http: ServiceHttp
  clock: Clock
  log: Logger
}

const HEADERS = {
  accept: 'application/json, text/*;q=0.9, */*;q=0.5',
  'accept-encoding': 'gzip, br',
  'user-agent': 'quarterdeck',
}

/** Calls a service for a tool. An answer of any status is an outcome. Throws when there is no answer at all. */
export async function callService(
  { http, clock }: Pick<HttpToolDeps, 'http' | 'clock'>,
  tool: { name: string; effect: Effect },
  call: ToolCallRequest,
  request: ServiceRequest,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const begun = clock.mono()
  // The call's own logger adds the ids of the run and the call.
  const { log } = call.voice
  // Not the path and query: they hold arguments, which are content and stay out of the log.
  const fields = () => ({ host: request.url.host, duration_ms: Math.round(clock.mono() - begun) })
  // A repeated call keeps its id, so a service that knows this header does the work only once.
  const key = tool.effect === 'idempotent' ? { 'idempotency-key': encodeURIComponent(call.callId.toWellFormed()) } : {}
  try {
    const headers = { ...HEADERS, ...key, ...traceHeaders(call.trace), ...request.headers }
    const answer = await http.send({ ...request, headers }, signal)
    log.debug('a service answered a tool', { ...fields(), status: answer.status })
    return answerOutcome(answer)
  } catch (error) {
    log.warn('a service did not answer a tool', { ...fields(), ...reasonOf(error) })
    throw error
  }
}

function reasonOf(error: unknown): { reason: unknown; code: unknown } {
  const cause = error instanceof ServerError ? error.cause : error
  return {
    reason: error instanceof ServerError ? error.details.reason : 'unknown',
    code: cause instanceof Error && 'code' in cause ? cause.code : undefined,
  }
}

const { STATUS_CODES } = process.getBuiltinModule('node:http')

const ERROR_EXCERPT = 2_000
const CUT = '\n[The answer is longer than 1 MB. The rest is left out.]'

/** What the model reads: text as it is, JSON without whitespace. Anything else is only described. */
export function answerOutcome(answer: ServiceAnswer): ToolOutcome {
  const status = `${answer.status} ${STATUS_CODES[answer.status] ?? ''}`.trim()
  const text = textOf(answer)
  if (answer.status < 300) return { content: text || emptyText(answer, status), isError: false }
  const excerpt = text.length > ERROR_EXCERPT ? `${text.slice(0, ERROR_EXCERPT).toWellFormed()} […]` : text
  const content = `The service answered ${status}${excerpt === '' ? '.' : `: ${excerpt}`}`
  return { content, isError: true, ...(mayPass(answer.status) ? { isPassing: true } : {}) }
}

const mayPass = (status: number): boolean => status >= 500 || status === 408 || status === 429

/** The answer to HEAD has no body, so its headers are the answer. */
function emptyText({ contentType, contentLength }: ServiceAnswer, status: string): string {
  const about = [contentType, contentLength === null ? '' : `${contentLength} bytes`].filter((part) => part !== '')
  return `The service answered ${status} without a body${about.length === 0 ? '' : ` (${about.join(', ')})`}.`
}

function textOf({ body, contentType, isCut }: ServiceAnswer): string {
  if (body.length === 0) return ''
  const type = (contentType.split(';')[0] ?? '').trim()
  const isText = type === '' ? looksLikeText(body, isCut) : TEXT_TYPES.test(type)
  if (!isText) return `[${type || 'Binary data'}, ${isCut ? 'more than 1 MB' : `${body.length} bytes`}, not shown.]`
  const text = decode(body, contentType)
  const compact = isCut || !mayBeJson(type) ? null : compactJson(text)
  return (compact ?? text) + (isCut ? CUT : '')
}

const mayBeJson = (type: string): boolean => type === '' || /\bjson$/.test(type)

const TEXT_TYPES =
  /^text\/|[/+.-](json|xml|yaml|javascript|ecmascript|typescript|x-www-form-urlencoded|graphql|ndjson|jsonl|json-seq|toml|sql|csv)$/

function looksLikeText(body: Buffer, isCut: boolean): boolean {
  if (body.includes(0)) return false
  try {
    // The cut may be inside a character.
    new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: isCut })
    return true
  } catch {
    return false
  }
}

function decode(body: Buffer, contentType: string): string {
  const charset = /;\s*charset="?([\w-]+)/.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    return new TextDecoder().decode(body)
  }
}

/** JSON without the whitespace between its tokens. Null when the text is not JSON. Numbers keep all their digits. */
export function compactJson(text: string): string | null {
  if (jsonIn(text) === undefined) return null
  // The parsed value is not printed: an id of 19 digits would change.
  let result = ''
  let position = 0
  while (position < text.length) {
    const quote = text.indexOf('"', position)
    if (quote === -1) break
    const end = endOfString(text, quote)
    result += text.slice(position, quote).replace(/\s+/g, '') + text.slice(quote, end)
    position = end
  }
  return result + text.slice(position).replace(/\s+/g, '')
}

function endOfString(text: string, quote: number): number {
  let position = quote + 1
  while (position < text.length && text[position] !== '"') position += text[position] === '\\' ? 2 : 1
  return position + 1
}
