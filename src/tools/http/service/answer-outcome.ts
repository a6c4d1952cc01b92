import type { ToolOutcome } from '../../tool.ts'
import { compactJson } from './compact-json.ts'
import type { ServiceAnswer } from './service-http.ts'

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
