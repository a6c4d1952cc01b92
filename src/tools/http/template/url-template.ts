// A URL with arguments in its path and query. Scheme, host and port are fixed when the template is read.

import type { ServerError } from '../../../domain/errors.ts'
import { badArgument } from '../service/service-failure.ts'
import {
  type Arguments,
  argumentOf,
  argumentsIn,
  fillTemplate,
  parseTemplate,
  soleArgument,
  type Template,
  textOf,
} from './template.ts'

interface UrlTemplate {
  /** Scheme, host and port. */
  readonly base: URL
  readonly arguments: readonly string[]
  /**
   * The URL for these arguments. Query parameters whose argument was left out are left out. `pairs` are encoded already and
   * come last. Throws when an argument of the path is missing, or would lead to another path. `path` encodes an argument for the
   * path.
   */
  fill(args: Arguments, pairs: readonly string[], path?: (value: unknown, argument: string) => string): URL
}

const SHAPE = /^(https?:)\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?$/i

/** `refuse` creates the error that is thrown for a template that cannot be used. */
export function parseUrlTemplate(text: string, refuse: (problem: string) => ServerError): UrlTemplate {
  const [, scheme = '', authority = '', path = '', query = ''] = SHAPE.exec(text) ?? []
  if (scheme === '') throw refuse('url must begin with https:// or http:// and must not contain a #.')
  if (/[{}]/.test(authority)) throw refuse('url must name its host: an argument cannot be part of it.')
  if (authority.includes('@')) throw refuse('url must not contain a user or password. Write an Authorization header.')
  if (/[\\\s\p{Cc}]/u.test(text)) throw refuse('url must not contain spaces or backslashes. Write %20 for a space.')
  const base = URL.parse(`${scheme}//${authority}/`)
  if (base === null) throw refuse(`url has no valid host: ${JSON.stringify(authority)}.`)

  const segments = path.split('/').slice(1).map(parseTemplate)
  const parameters = query.split('&').filter(Boolean).map(parseParameter)
  const templates = [...segments, ...parameters.map(({ template }) => template)]
  if (templates.flat().some((part) => typeof part === 'string' && /[{}]/.test(part)))
    throw refuse('url has a { or } that does not belong to an argument. Write arguments as {name}.')
  for (const segment of segments) {
    const [part = ''] = segment
    if (segment.length === 1 && typeof part === 'string' && segmentProblem(part) !== null)
      throw refuse(`url has the part ${JSON.stringify(part)} in its path. Write the path without . and ..`)
  }

  return {
    base,
    arguments: [...new Set(templates.flatMap(argumentsIn))],
    fill(args, pairs, encode = (value) => encodeURIComponent(textOf(value))) {
      const filled = segments.map((segment) => fillSegment(segment, args, encode))
      const all = [...parameters.flatMap((parameter) => fillParameter(parameter, args)), ...pairs]
      const url = new URL(`${base.origin}/${filled.join('/')}${all.length === 0 ? '' : `?${all.join('&')}`}`)
      // The checks above already rule this out. This is the last guard.
      if (url.origin !== base.origin || url.pathname.split('/').length !== Math.max(filled.length, 1) + 1)
        throw badArgument('The arguments would lead to another address.')
      return url
    },
  }
}

type Encode = (value: unknown, argument: string) => string

function fillSegment(segment: Template, args: Arguments, encode: Encode): string {
  const names = argumentsIn(segment)
  if (names.length === 0) return segment.join('')
  const encoded = segment.map((part) => {
    if (typeof part === 'string') return part
    const value = argumentOf(args, part.argument)
    if (value === undefined) throw badArgument(`The argument ${part.argument} is missing; it is part of the address.`)
    return encode(value, part.argument)
  })
  const result = encoded.join('')
  const problem = segmentProblem(result)
  if (problem !== null) throw badArgument(`The argument ${names.join(', ')} cannot be used: it ${problem}.`)
  return result
}

/**
 * What is wrong with one encoded segment of a path that arguments were put into. Null when the segment is safe. Encoding alone is
 * not enough: a server, or a proxy before it, that decodes a path and then normalizes it turns `..%2Fadmin` into another path
 * (CVE-2026-32871 is this hole in another product).
 */
function segmentProblem(segment: string): string | null {
  if (segment === '') return 'would leave a part of the address empty'
  let text = segment
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    if (text.split(/[/\\]/).some(isDots)) return 'would lead to another address'
    const decoded = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    if (decoded === text) return null
    if ([...decoded].some(isControl)) return 'holds a control character'
    text = decoded
  }
  return 'is encoded several times over'
}

const MAX_DEPTH = 4

/** Java servers cut off what follows a semicolon before they look. */
const isDots = (piece: string): boolean => /^\.{1,2}(;|$)/.test(piece)

const isControl = (character: string): boolean => character < ' ' || character === '\x7f'

interface QueryParameter {
  template: Template
  /** For a parameter whose value is exactly one argument. Null for any other. */
  sole: { name: string; argument: string } | null
}

function parseParameter(text: string): QueryParameter {
  const equals = text.indexOf('=')
  const argument = soleArgument(parseTemplate(text.slice(equals + 1)))
  const sole = equals > 0 && argument !== null ? { name: text.slice(0, equals), argument } : null
  return { template: parseTemplate(text), sole }
}

function fillParameter({ template, sole }: QueryParameter, args: Arguments): string[] {
  const value = sole === null ? undefined : argumentOf(args, sole.argument)
  if (sole !== null && Array.isArray(value))
    return value.map((item) => `${sole.name}=${encodeURIComponent(textOf(item))}`)
  const text = fillTemplate(template, args, encodeURIComponent)
  return text === null ? [] : [text]
}
