// Writes one line for each call: JSON for machines, text for a terminal. No input can add a second line, control the terminal or leak a
// secret.

import type { LogFields, Logger } from '../../domain/logger.ts'
import { createMask } from '../../domain/text/mask.ts'
import { MASKED } from '../../domain/text/secret-name.ts'
import { visibleJson } from '../../domain/text/visible-text.ts'

const LEVELS = { debug: 10, info: 20, warn: 30, error: 40 } as const

export type LogLevel = keyof typeof LEVELS

export interface LoggerOptions {
  level: LogLevel
  format: 'json' | 'text'
  /** Replaces `format`. Returns a line for people, or null for no line. The fields it gets are already masked. Null: it is not used. */
  render: ((record: LogRecord) => string | null) | null
  /** Gets each line as JSON, whatever the format is. */
  tap: (line: string) => void
  /** Gets one line, including its LF. */
  write: (line: string) => void
  now: () => number
  /** Also log what people and models said (fields named `content`). */
  content: boolean
  /** Masked wherever they appear. */
  secrets: readonly string[]
  /** Color text lines. */
  colors: boolean
}

const MAX_TEXT = 4_096
const MAX_LINE = 32_768
const SECRET_KEY = /^(?:authorization|cookie|set-cookie|password|secret|.*passphrase|.*api[_-]?key|.*[_-]?token)$/i

export function createLogger(options: LoggerOptions): Logger {
  const threshold = LEVELS[options.level]
  const toJson = createLineWriter(options)
  const { render, tap } = options
  const toLine =
    render !== null
      ? (json: string) => render(JSON.parse(json))
      : options.format === 'json'
        ? (json: string) => json
        : (json: string) => readable(json, options.colors)

  function create(bound: LogFields): Logger {
    function log(level: LogLevel, message: string, fields: LogFields | undefined): void {
      if (LEVELS[level] < threshold) return
      const head = { time: new Date(options.now()).toISOString(), level, message }
      // First, so that they come first in the line. Last, so that no field can replace them.
      const json = toJson({ ...head, ...bound, ...fields, ...head })
      tap(json)
      const line = toLine(json)
      if (line !== null) options.write(`${line}\n`)
    }
    return {
      debug: (message, fields) => log('debug', message, fields),
      info: (message, fields) => log('info', message, fields),
      warn: (message, fields) => log('warn', message, fields),
      error: (message, fields) => log('error', message, fields),
      with: (fields) => create({ ...bound, ...fields }),
    }
  }

  return create({})
}

export type LogRecord = LogFields & { time: string; level: LogLevel; message: string }

function createLineWriter({ level, content, secrets }: LoggerOptions): (record: LogRecord) => string {
  const mask = createMask(secrets)
  const withStack = level === 'debug'

  function safe(key: string, value: unknown): unknown {
    if (key === 'content' && !content) return undefined
    if (typeof value === 'string') {
      if (SECRET_KEY.test(key)) return MASKED
      const masked = mask(value)
      return masked.length > MAX_TEXT ? `${masked.slice(0, MAX_TEXT)}… (${masked.length} characters)` : masked
    }
    if (value instanceof Error) return describe(value, withStack)
    return typeof value === 'bigint' ? String(value) : value
  }

  return (record) => {
    const { time, level, message, correlation_id } = record
    let line: string
    try {
      line = JSON.stringify(record, safe)
    } catch {
      line = JSON.stringify({ time, level, message, correlation_id, log_error: 'fields are not JSON' }, safe)
    }
    if (line.length > MAX_LINE) {
      line = JSON.stringify({ time, level, message, correlation_id, log_error: `${line.length} characters` }, safe)
    }
    // JSON does not escape invisible characters and some that control a terminal.
    return visibleJson(line)
  }
}

function describe(error: Error, withStack: boolean): Record<string, unknown> {
  const { name, message, cause } = error
  return {
    name,
    message,
    code: 'code' in error ? error.code : undefined,
    cause: cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined,
    stack: withStack ? error.stack : undefined,
  }
}

const PAINT: Record<string, string> = { debug: '\x1b[2m', warn: '\x1b[33m', error: '\x1b[31m' }

/** The same line for people: `12:30:00.123 INFO  message key=value`. */
function readable(json: string, colors: boolean): string {
  const { time, level, message, ...fields }: LogRecord = JSON.parse(json)
  const values = Object.entries(fields).map(([key, value]) => ` ${key}=${valueText(value)}`)
  const text = `${time.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${quoted(message).slice(1, -1)}${values.join('')}`
  const paint = colors ? PAINT[level] : undefined
  return paint === undefined ? text : `${paint}${text}\x1b[0m`
}

function valueText(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/@+-]+$/.test(value) ? value : quoted(value)
}

const quoted = (value: unknown): string => visibleJson(JSON.stringify(value))
