// An address with arguments in its path and query. Scheme, host and port are fixed when the template is read.

import type { ServerError } from '../../../domain/errors.ts'
import { badArgument } from '../service/service-failure.ts'
import { segmentProblem } from './path-segment.ts'
import {
  type Arguments,
  argumentOf,
  argumentsIn,
  fillTemplate,
  parseTemplate,
  soleArgument,
  textOf,
} from './template.ts'

export interface UrlTemplate {
  /** Scheme, host and port. */
  readonly base: URL
  readonly arguments: readonly string[]
  /**
   * The address for these arguments. A part of the query whose argument was left out is left out; `pairs`, encoded already, come
   * behind. Throws where an argument is missing in the path or would change which place is meant. `path` encodes an argument for
   * its place there.
   */
  fill(args: Arguments, pairs: readonly string[], path?: (value: unknown, argument: string) => string): URL
}

const SHAPE = /^(https?:)\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?$/i

/** `refuse` makes the error for a template that cannot be used. */
export function parseUrlTemplate(text: string, refuse: (problem: string) => ServerError): UrlTemplate {
  const [, scheme = '', authority = '', path = '', query = ''] = SHAPE.exec(text) ?? []
  if (scheme === '') throw refuse('url must begin with https:// or http:// and have no part after a #.')
  if (/[{}]/.test(authority)) throw refuse('url must have its host written out: an argument cannot stand there.')
  if (authority.includes('@')) throw refuse('url must not hold a user or password. Write an Authorization header.')
  if (/[\\\s\p{Cc}]/u.test(text)) throw refuse('url must have no spaces and no backslashes. Write %20 for a space.')
  const base = URL.parse(`${scheme}//${authority}/`)
  if (base === null) throw refuse(`url has no host that can be called: ${JSON.stringify(authority)}.`)

  const segments = path.split('/').slice(1).map(parseTemplate)
  const parameters = query.split('&').filter(Boolean).map(parseParameter)
  const templates = [...segments, ...parameters.map(({ template }) => template)]
  if (templates.flat().some((part) => typeof part === 'string' && /[{}]/.test(part)))
    throw refuse('url has a { or } that belongs to no argument. Write {name} around the name of an argument.')
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
      // Cannot happen, and must not.
      if (url.origin !== base.origin || url.pathname.split('/').length !== Math.max(filled.length, 1) + 1)
        throw badArgument('The arguments would lead to another address.')
      return url
    },
  }
}

type Encode = (value: unknown, argument: string) => string

function fillSegment(segment: ReturnType<typeof parseTemplate>, args: Arguments, encode: Encode): string {
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

interface QueryParameter {
  template: ReturnType<typeof parseTemplate>
  /** Of a parameter that is one argument and nothing else. */
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
