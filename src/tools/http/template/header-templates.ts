import type { ServerError } from '../../../domain/errors.ts'
import { badArgument } from '../service/service-failure.ts'
import { type Arguments, argumentsIn, fillTemplate, parseTemplate } from './template.ts'

export interface HeaderTemplates {
  readonly arguments: readonly string[]
  /** The Content-Type that the settings name, in lower case. Null when they do not. */
  readonly contentType: string | null
  /** Values by lower-case name. Headers whose argument was left out are left out. */
  fill(args: Arguments): Record<string, string>
}

export function parseHeaderTemplates(
  headers: Readonly<Record<string, string>>,
  refuse: (problem: string) => ServerError,
): HeaderTemplates {
  const templates = Object.entries(headers).map(([name, value]) => {
    if (!isHeaderName(name)) throw refuse(`headers: ${JSON.stringify(name)} is not a valid header name.`)
    if (isReservedHeader(name)) throw refuse(`headers: ${name} is set by the server itself. Remove it.`)
    if (!isHeaderValue(value)) throw refuse(`headers: the value of ${name} has characters that a header cannot carry.`)
    return { name: name.toLowerCase(), template: parseTemplate(value) }
  })
  const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? null
  return {
    arguments: [...new Set(templates.flatMap(({ template }) => argumentsIn(template)))],
    contentType: contentType?.toLowerCase() ?? null,
    fill: (args) =>
      Object.fromEntries(
        templates.flatMap(({ name, template }) => {
          const value = fillTemplate(template, args, (text) => text)
          return value === null ? [] : [[name, checkedHeaderValue(name, value)]]
        }),
      ),
  }
}

/** Throws for a value that would end the header and begin another one, or that cannot be sent at all. */
export function checkedHeaderValue(name: string, value: string): string {
  if (isHeaderValue(value)) return value
  throw badArgument(`The argument for the header ${name} has characters that a header cannot carry, e.g. a line break.`)
}

const isHeaderValue = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

export const isHeaderName = (name: string): boolean => /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name)

/** Headers that decide where a request goes and how it is framed. Neither settings nor arguments may set them. */
export const isReservedHeader = (name: string): boolean => RESERVED.has(name.toLowerCase())

const RESERVED: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
