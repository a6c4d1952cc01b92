// The values of `format` that are checked, each in time proportional to the text. Other formats are not enforced.

import { isIPv4, isIPv6 } from 'node:net'

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
