// Checks a text or a number against the keywords that are only about texts or numbers.

import { isIPv4, isIPv6 } from 'node:net'
import type { Meter } from './meter.ts'
import { cut, preview } from './problem.ts'
import type { SchemaNode } from './schema-node.ts'

/** Formats look at a character several times. */
const FORMAT_WORK_PER_CHAR = 0.5

type Say = (text: string) => void

export function checkText(node: SchemaNode, value: string, say: Say, meter: Meter): void {
  if (node.minLength !== undefined || node.maxLength !== undefined) {
    meter.spendOn(value)
    const length = codePoints(value)
    if (length < (node.minLength ?? 0)) say(`must have at least ${node.minLength} characters, found ${length}`)
    if (length > (node.maxLength ?? length)) say(`must have at most ${node.maxLength} characters, found ${length}`)
  }
  if (node.pattern?.matcher && !node.pattern.matcher.foundIn(value, meter.spend)) {
    say(`must match ${cut(node.pattern.source, 100)}, found ${preview(value)}`)
  }
  const format = node.format === undefined ? undefined : textFormats.get(node.format)
  if (format === undefined) return
  meter.spend(value.length * FORMAT_WORK_PER_CHAR)
  if (!format.fits(value)) say(`must be ${format.name}, found ${preview(value)}`)
}

function codePoints(text: string): number {
  let pairs = 0
  for (let i = 0; i < text.length; i += 1) {
    const code = text.codePointAt(i)
    if (code !== undefined && code > 0xffff) {
      pairs += 1
      i += 1
    }
  }
  return text.length - pairs
}

export function checkNumber(node: SchemaNode, value: number, say: Say): void {
  const found = `, found ${value}`
  if (node.minimum !== undefined && value < node.minimum) say(`must be at least ${node.minimum}${found}`)
  if (node.maximum !== undefined && value > node.maximum) say(`must be at most ${node.maximum}${found}`)
  if (node.exclusiveMinimum !== undefined && value <= node.exclusiveMinimum) {
    say(`must be more than ${node.exclusiveMinimum}${found}`)
  }
  if (node.exclusiveMaximum !== undefined && value >= node.exclusiveMaximum) {
    say(`must be less than ${node.exclusiveMaximum}${found}`)
  }
  if (node.multipleOf !== undefined && !isMultiple(value, node.multipleOf)) {
    say(`must be a multiple of ${node.multipleOf}${found}`)
  }
}

/** 0.3 is a multiple of 0.1, although not in binary, so the remainder may be as large as the last digit of either number. */
function isMultiple(value: number, of: number): boolean {
  if (value % of === 0) return true
  // Whole numbers are exact. For large ones, the tolerance below would be more than 1.
  if (Number.isInteger(value) && Number.isInteger(of)) return false
  const times = value / of
  if (!Number.isFinite(times)) return false
  return Math.abs(times - Math.round(times)) <= Math.abs(times) * Number.EPSILON * 2
}

// The values of `format` that are checked, each in time proportional to the text. Other formats are not enforced.

interface TextFormat {
  /** For the sentence "must be …". */
  name: string
  fits(text: string): boolean
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const HOST_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i
const EMAIL_NAME = /^[^\s@"(),:;<>[\\\]]{1,64}$/
const SCHEME = /^[a-z][a-z0-9+.-]*:[^\s]+$/i

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined) return false
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}

const isDateTime = (text: string): boolean =>
  /^.{10}[t ]/i.test(text) && isDate(text.slice(0, 10)) && TIME.test(text.slice(11))

const isHost = (text: string): boolean => text.length <= 253 && text.split('.').every((label) => HOST_LABEL.test(label))

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  return text.length <= 320 && at > 0 && EMAIL_NAME.test(text.slice(0, at)) && isHost(text.slice(at + 1))
}

const isUri = (text: string): boolean => SCHEME.test(text) && URL.canParse(text)

export const textFormats: ReadonlyMap<string, TextFormat> = new Map<string, TextFormat>([
  ['date', { name: 'a date like 2026-01-31', fits: isDate }],
  ['time', { name: 'a time like 12:30:00Z', fits: (text) => TIME.test(text) }],
  ['date-time', { name: 'a date and time like 2026-01-31T12:30:00Z', fits: isDateTime }],
  ['email', { name: 'an e-mail address', fits: isEmail }],
  ['hostname', { name: 'a host name', fits: isHost }],
  ['ipv4', { name: 'an IPv4 address', fits: isIPv4 }],
  ['ipv6', { name: 'an IPv6 address', fits: isIPv6 }],
  ['uri', { name: 'a URL', fits: isUri }],
  ['url', { name: 'a URL', fits: isUri }],
  ['uuid', { name: 'a UUID', fits: (text) => UUID.test(text) }],
])
