// A parameter list -> its parameters, each with the places of its parts.

import type { FoundFunction } from './find-function.ts'
import { keyOf, type Span } from './read-literal.ts'
import type { Token } from './tokenize.ts'
import { Unreadable } from './unreadable.ts'

export interface Parameter {
  /** Null when it is taken apart on the spot. */
  name: string | null
  /** What is taken out of it; null when it has a name. */
  parts: Part[] | null
  /** Marked with `?`. */
  optional: boolean
  type: Span | null
  /** The default's expression. */
  fallback: Span | null
  /** Offset in the source. */
  position: number
}

/** One entry of `{ city, days = 3, unit: u = 'c', ...others }`. */
export interface Part {
  key: string
  fallback: Span | null
  position: number
}

export function splitParameters(tokens: readonly Token[], found: FoundFunction): Parameter[] {
  const head = tokens[found.head]
  if (head === undefined) return []
  if (head.kind === 'name')
    return [{ name: head.text, parts: null, optional: false, type: null, fallback: null, position: head.start }]
  const parameters: Parameter[] = []
  for (let at = found.head + 1; at < head.pair; ) {
    const { parameter, end } = parameterAt(tokens, at, head.pair)
    // TypeScript's `this: Type` is no parameter.
    if (parameter.name !== 'this') parameters.push(parameter)
    at = end + 1
  }
  return parameters
}

function parameterAt(tokens: readonly Token[], from: number, close: number): { parameter: Parameter; end: number } {
  const token = tokens[from]
  const position = token?.start ?? 0
  if (token?.text === '...') throw new Unreadable(position, 'a rest parameter (...) cannot be read')
  const parts = token?.text === '{' ? partsOf(tokens, from) : null
  if (parts === null && token?.kind !== 'name')
    throw new Unreadable(position, 'a parameter without a name cannot be read')

  let at = parts === null ? from + 1 : (token?.pair ?? from) + 1
  const optional = tokens[at]?.text === '?'
  if (optional) at += 1
  let type: Span | null = null
  if (tokens[at]?.text === ':') {
    const end = endOfType(tokens, at + 1, close)
    type = { start: at + 1, end }
    at = end
  }
  let fallback: Span | null = null
  if (tokens[at]?.text === '=') {
    const end = endOfExpression(tokens, at + 1, close)
    fallback = { start: at + 1, end }
    at = end
  }
  if (at < close && tokens[at]?.text !== ',')
    throw new Unreadable(tokens[at]?.start ?? position, `${tokens[at]?.text} cannot be read in a parameter list`)
  const name = parts === null ? (token?.text ?? '') : null
  return { parameter: { name, parts, optional, type, fallback, position }, end: at }
}

function partsOf(tokens: readonly Token[], open: number): Part[] {
  const close = tokens[open]?.pair ?? open
  const parts: Part[] = []
  for (let at = open + 1; at < close; ) {
    const end = endOfExpression(tokens, at, close)
    const token = tokens[at]
    const key = keyOf(token)
    if (token?.text !== '...') {
      if (key === null) throw new Unreadable(token?.start ?? 0, 'a computed name cannot be read')
      let equals = at + 1
      while (equals < end && tokens[equals]?.text !== '=') equals = behind(tokens, equals)
      const fallback = equals < end ? { start: equals + 1, end } : null
      parts.push({ key, fallback, position: token?.start ?? 0 })
    }
    at = end + 1
  }
  return parts
}

/** The `=` or `,` behind a type. Its generics may hold commas. */
function endOfType(tokens: readonly Token[], from: number, close: number): number {
  let depth = 0
  let at = from
  for (; at < close; at = behind(tokens, at)) {
    const text = tokens[at]?.text
    if (text === '<') depth += 1
    else if (text === '>') depth -= 1
    else if (depth === 0 && (text === ',' || text === '=')) break
  }
  return at
}

function endOfExpression(tokens: readonly Token[], from: number, close: number): number {
  let at = from
  while (at < close && tokens[at]?.text !== ',') at = behind(tokens, at)
  return at
}

/** The following token, behind the bracket's end where this one opens one. */
function behind(tokens: readonly Token[], at: number): number {
  const pair = tokens[at]?.pair ?? -1
  return (pair > at ? pair : at) + 1
}
