// The log for a person at a terminal: one short line for each run, and what needs attention. --verbose shows everything else, with ids.

import { visibleProse } from '../../domain/text/visible-text.ts'
import { wrapText } from '../../domain/text/wrap-text.ts'
import type { LogRecord } from './logger.ts'

export interface TerminalLogOptions {
  colors: boolean
  /** Characters in a line of the terminal. */
  width: () => number
  /** The page where a person answers what a session waits for. Null until the server has an address. */
  answerUrl: (sessionId: string) => string | null
  /** Calls the program in a text as people type it here. */
  spell: (text: string) => string
}

/** Null for a record that a person does not need. */
export function createTerminalLog({
  colors,
  width,
  answerUrl,
  spell,
}: TerminalLogOptions): (record: LogRecord) => string | null {
  /** The call whose failure was already shown, with its reason. */
  let thrown: unknown
  return (record) => {
    if (record.message === 'tool call' && record.call_id === thrown) return null
    if (record.message === 'a tool threw') thrown = record.call_id
    const said = wordsOf(record, answerUrl)
    if (said === null) return null
    const time = new Date(record.time).toTimeString().slice(0, 8)
    const line = wrapText(`${time}  ${spell(oneLine(said.text))}`, width(), INDENT)
    return colors ? `${DIM(time)}${PAINT[said.tone](line.slice(time.length))}` : line
  }
}

/** The width of the time and the gap after it. */
const INDENT = 10

type Tone = 'plain' | 'waits' | 'warn' | 'error'

interface Said {
  text: string
  tone: Tone
}

/** Names and reasons may come from strangers. */
const oneLine = (text: string): string => visibleProse(text).replace(/\s+/g, ' ').trim()

const paint =
  (open: number, close: number) =>
  (text: string): string =>
    `\x1b[${open}m${text}\x1b[${close}m`
const DIM = paint(2, 22)
const PAINT: Readonly<Record<Tone, (text: string) => string>> = {
  plain: (text) => text,
  waits: paint(36, 39),
  warn: paint(33, 39),
  error: paint(31, 39),
}

function wordsOf(record: LogRecord, answerUrl: TerminalLogOptions['answerUrl']): Said | null {
  switch (record.message) {
    case 'run':
      return runWords(record, answerUrl)
    case 'request':
      return requestWords(record)
    case 'tool call':
      return record.outcome === 'failed'
        ? { text: `${record.agent}: the tool ${record.tool} failed after ${seconds(record.latency_ms)}`, tone: 'warn' }
        : null
    case 'a tool threw':
      return { text: `the tool ${record.tool} failed: ${Object(record.error).message}`, tone: 'warn' }
    case 'model is asked again':
      return { text: `${modelOf(record)} is asked again in ${seconds(record.wait_ms)}: ${record.reason}`, tone: 'warn' }
    case 'model is replaced by its fallback':
      return { text: `${modelOf(record)} is replaced by ${record.fallback}: ${record.reason}`, tone: 'warn' }
    case 'waiting for a person':
      // The run's line already says it.
      return record.folder === undefined ? null : elsewhereWaits(record, answerUrl)
    case 'documents are being read':
    case 'documents are up to date':
      return documentWords(record)
    case 'agent session':
    case 'decision':
    case 'stall alert':
    case 'nudge':
      return elsewhereWords(record)
    // The run's line, the banner, or the line about the server's tools already says it.
    case 'sign-in alert':
    case 'model call':
    case 'waiting for the client':
    case 'ready':
      return null
    case 'request failed':
      return record.run_id === undefined ? anyWords(record) : null
    default:
      return anyWords(record)
  }
}

function runWords(record: LogRecord, answerUrl: TerminalLogOptions['answerUrl']): Said {
  const { agent, outcome, reason } = record
  switch (outcome) {
    case 'waiting': {
      const approvals = namesIn(record.approvals)
      if (approvals === '')
        return { text: `${agent} waits for the client: ${namesIn(record.client_calls)}`, tone: 'plain' }
      const url = answerUrl(String(record.session_id))
      const where = url === null ? '' : ` → ${url}`
      return { text: `${agent} waits for approval of ${approvals}${where}`, tone: 'waits' }
    }
    case 'completed':
      return { text: [`${agent} answered`, ...figures(record)].join(' · '), tone: 'plain' }
    case 'cancelled': {
      const by = typeof record.stopped_by === 'string' ? ` by ${record.stopped_by}` : ''
      return { text: [`${agent} was stopped${by}`, ...figures(record)].join(' · '), tone: 'plain' }
    }
    case 'suspended':
      return { text: `${agent} goes on with this answer after the next start`, tone: 'plain' }
    case 'lost':
      return { text: `${agent}: another server goes on with this answer`, tone: 'warn' }
    default:
      return { text: `${agent} ${outcome === 'failed' ? 'failed' : 'was interrupted'}: ${reason}`, tone: 'error' }
  }
}

/** An agent elsewhere has no run of ours that would say it. */
function elsewhereWaits(record: LogRecord, answerUrl: TerminalLogOptions['answerUrl']): Said {
  const url = answerUrl(String(record.session_id))
  return { text: `${whoElsewhere(record)} asks: ${record.tool}${url === null ? '' : ` → ${url}`}`, tone: 'waits' }
}

function elsewhereWords(record: LogRecord): Said {
  const { message, outcome, tool, by, level } = record
  const words = [message, tool, outcome].filter((word) => typeof word === 'string' && word !== '').join(' ')
  const who = typeof by === 'string' ? ` by ${by}` : ''
  return { text: `${whoElsewhere(record)}: ${words}${who}`, tone: level === 'warn' ? 'warn' : 'plain' }
}

/** `handbook: 120 of 300 files read`, and in the end `handbook: 300 files, 1,310 passages; 2 could not be read: …`. */
function documentWords({ documents, message, done, total, phase, ...record }: LogRecord): Said {
  if (message === 'documents are being read') {
    const what = phase === 'reading' ? 'files read' : 'passages embedded'
    return { text: `${documents}: ${count(Number(done))} of ${count(Number(total))} ${what}`, tone: 'plain' }
  }
  const { files, passages, problems, not_read: notRead } = record
  const [first] = [notRead].flat()
  const others = Number(problems) > 1 ? ' All of them: quarterdeck knowledge status' : ''
  const bad =
    problems === 0 ? '' : `; ${count(Number(problems))} could not be read, or not as a whole: ${first}${others}`
  const many = (n: unknown, one: string): string => `${count(Number(n))} ${one}${n === 1 ? '' : 's'}`
  const text = `${documents}: ${many(files, 'file')}, ${many(passages, 'passage')}${bad}`
  return { text, tone: problems === 0 ? 'plain' : 'warn' }
}

const whoElsewhere = ({ agent, folder }: LogRecord): string => `${agent} in ${folder}`

function figures({ tools, input_tokens, output_tokens, cost, latency_ms }: LogRecord): string[] {
  const calls = Object.entries(Object(tools)).map(([name, count]) => (count === 1 ? name : `${name} ×${count}`))
  return [
    ...(calls.length === 0 ? [] : [calls.join(', ')]),
    ...(input_tokens === undefined ? [] : [`${count(Number(input_tokens) + Number(output_tokens))} tokens`]),
    ...(cost === undefined ? [] : [`cost ${price(Number(cost))}`]),
    seconds(latency_ms),
  ]
}

/** A caller's mistake is shown. A path that browsers ask for on their own is not, and neither is that `ctl` hears that it has to ask for the passphrase. */
function requestWords({ method, route, status, code, run_id }: LogRecord): Said | null {
  const isRefused = typeof status === 'number' && status >= 400 && status < 500 && code !== undefined
  const isExpected = code === 'passphrase_required' || (route === '-' && method === 'GET')
  if (!isRefused || run_id !== undefined || isExpected) return null
  const what = route === '-' ? `${method} of an unknown path` : `${method} ${route}`
  return { text: `${what} was refused: ${status} ${code}`, tone: 'warn' }
}

/** Ids and the like, which only --verbose shows. */
const IDS = /^(?:correlation|session|run|call|approval|wait|file|grant|token)_id$/

function anyWords({ time: _time, level, message, reason, error, code: _code, ...fields }: LogRecord): Said {
  const why = reason ?? Object(error).message
  const rest = Object.entries(fields)
    .filter(([key]) => !IDS.test(key))
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const more = rest.length === 0 ? '' : ` (${rest.join(', ')})`
  const label = level === 'warn' ? 'warning: ' : level === 'error' ? 'error: ' : ''
  const what = why === undefined ? message : `${message.replace(/\.$/, '')}: ${why}`
  const text = `${label}${what}${more}`
  return { text, tone: level === 'warn' || level === 'error' ? level : 'plain' }
}

const modelOf = ({ provider, model }: LogRecord): string => `${provider}/${model}`

const namesIn = (names: unknown): string => (Array.isArray(names) ? [...new Set(names)].join(', ') : '')

const count = (number: number): string => number.toLocaleString('en-US')

/** Two significant digits below a hundredth. */
const price = (cost: number): string => (cost === 0 || cost >= 0.01 ? cost.toFixed(2) : cost.toPrecision(2))

const seconds = (ms: unknown): string => `${(Number(ms) / 1000).toFixed(1)} s`
