// Schemas for the values of settings: how they are written, and what the server gets.

import { isIP } from 'node:net'
import { z } from 'zod'
import { type Door, doorNames } from '../../doors.ts'
import { count, durationExpectation, isSpan, oneOrMore, secondsOf, spanInput } from '../source/schema-key.ts'

export const protocolList = () =>
  z
    .union([z.array(z.enum(doorNames)).min(1), z.enum(['all', ...doorNames])])
    .transform((value): Door[] =>
      value === 'all' ? [...doorNames] : doorNames.filter((name) => [value].flat().includes(name)),
    )

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Our names for the levels, and Python's. */
const levels: Record<string, LogLevel> = {
  debug: 'debug',
  info: 'info',
  warn: 'warn',
  error: 'error',
  silent: 'silent',
  notset: 'debug',
  warning: 'warn',
  fatal: 'error',
  critical: 'error',
}

export const logLevel = () =>
  z
    .enum([...Object.keys(levels), ...Object.keys(levels).map((name) => name.toUpperCase())])
    .transform((name): LogLevel => levels[name.toLowerCase()] ?? 'info')

/** `sqlite`, `:memory:` or the URL of a Postgres database. */
export const storeKind = () =>
  z.union([z.enum(['sqlite', ':memory:']), z.string().regex(/^postgres(ql)?:\/\/[^\s]+$/, { error: '' })])

// Parts of a row that belong together: a kind of value and its default.

/** Yes or no. The example is what somebody would write: the other one. */
export const toggle = (value: boolean) => ({ schema: z.boolean(), example: !value, default: value })

/** A number, or `none` for no limit; the server gets null for `none`. */
export const limited = (value: number | null) => ({
  schema: z.union([count(), z.literal('none')]).transform((given) => (given === 'none' ? null : given)),
  expected: 'a whole number of at least 1, or none',
  default: value,
})

/** A time span; the server gets seconds. */
export const timeSpan = (seconds: number, zero = false) => ({
  schema: spanInput()
    .refine((value) => isSpan(value, zero), { error: '' })
    .transform(secondsOf),
  expected: durationExpectation(zero),
  default: seconds,
  defaultText: `${seconds} s`,
})

/** A time span or `never`; the server gets null for `never`. */
export const spanOrNever = () =>
  z
    .union([spanInput(), z.literal('never')])
    .refine((value) => value === 'never' || isSpan(value, true), { error: '' })
    .transform((value) => (value === 'never' ? null : secondsOf(value)))

/** The path of a file or a folder. The type allows null, because that is the default. */
export const path = () =>
  z
    .string()
    .refine((value) => value.trim() !== '', { error: '' })
    .transform((value): string | null => value)

/** Printable ASCII without spaces, because it goes into an HTTP header. */
export const token = () =>
  z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .transform((value): string | null => value)

export const hostAddress = () =>
  z
    .string()
    .refine((value) => isHost(withoutBrackets(value)), { error: '' })
    .transform(withoutBrackets)

const HOST_NAME = /^[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$/

// 1.2.3 and 300.1.1.1 are mistyped addresses, not host names.
const isHost = (value: string): boolean => isIP(value) !== 0 || (HOST_NAME.test(value) && !/^[\d.]+$/.test(value))

const withoutBrackets = (value: string): string => value.replace(/^\[(.*)\]$/, '$1')

/** Names as in a Host header, with or without a port. */
export const hostNames = () =>
  oneOrMore(z.string().refine(isHostHeader, { error: '' }).meta({ expected: 'a host name, or name:port' }))

function isHostHeader(value: string): boolean {
  const [, name = '', port] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(value) ?? []
  return isHost(withoutBrackets(name)) && (port === undefined || Number(port) <= 65_535)
}

/** Origins of web pages. `local` means the pages on this machine, `*` means all pages and must be the only entry. */
export const origins = () =>
  oneOrMore(
    z
      .string()
      .refine((value) => originOf(value) !== null, { error: '' })
      .transform((value) => originOf(value) ?? value)
      .meta({ expected: 'an origin such as https://app.example.com (without a path), local, or *' }),
  ).refine((list) => list.length === 1 || !list.includes('*'), { error: '' })

/** Without a pattern, which a page would never match, and without a sign that has a meaning in a policy or in HTML. */
const PLAIN_ORIGIN = /^https?:\/\/(?:[\w.-]+|\[[\da-f:]+\])(?::\d+)?$/

/** Origins of web pages that are named one by one, as a Content-Security-Policy takes them. */
export const frameOrigins = () =>
  oneOrMore(
    z
      .string()
      .refine((value) => PLAIN_ORIGIN.test(originOf(value) ?? ''), { error: '' })
      .transform((value) => originOf(value) ?? value)
      .meta({ expected: 'an origin such as https://app.example.com (without a path)' }),
  )

/** An origin as browsers spell it; null if the value is not one. */
function originOf(value: string): string | null {
  if (value === '*' || value === 'local') return value
  const url = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@]+$/i.test(value) ? URL.parse(value) : null
  if (url === null) return null
  // By the URL standard, the schemes of desktop and mobile shells (tauri://localhost) have no origin, but browsers send them as one.
  return url.origin === 'null' ? value.toLowerCase() : url.origin
}
