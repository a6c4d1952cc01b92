// The values that stand in the source as literals: defaults of parameters, members of unions.

import type { Token } from './tokenize.ts'

/** Tokens from `start` up to, but not including, `end`. */
export interface Span {
  start: number
  end: number
}

/** What the span says, if it is one literal and nothing else. Null: it is an expression, whose value only a run knows. */
export function readLiteral(tokens: readonly Token[], span: Span): { value: unknown } | null {
  const found = valueAt(tokens, span.start, span.end)
  return found !== null && found.end === span.end ? { value: found.value } : null
}

function valueAt(tokens: readonly Token[], at: number, end: number): { value: unknown; end: number } | null {
  const token = tokens[at]
  if (token === undefined || at >= end) return null
  if (token.text === '-') {
    const number = tokens[at + 1]?.kind === 'number' ? valueAt(tokens, at + 1, end) : null
    return typeof number?.value === 'number' ? { value: -number.value, end: number.end } : null
  }
  if (token.kind === 'number') {
    const value = Number(token.text.replaceAll('_', ''))
    return Number.isFinite(value) ? { value, end: at + 1 } : null
  }
  if (token.kind === 'string' || token.kind === 'template') {
    const value = textOfString(token)
    return value === null ? null : { value, end: at + 1 }
  }
  if (token.kind === 'name') {
    const words: Readonly<Record<string, unknown>> = { true: true, false: false, null: null }
    return Object.hasOwn(words, token.text) ? { value: words[token.text], end: at + 1 } : null
  }
  if (token.text === '[') return arrayAt(tokens, at, token.pair)
  if (token.text === '{') return objectAt(tokens, at, token.pair)
  return null
}

function arrayAt(tokens: readonly Token[], open: number, close: number): { value: unknown[]; end: number } | null {
  const value: unknown[] = []
  for (let at = open + 1; at < close; ) {
    const item = valueAt(tokens, at, close)
    if (item === null || (item.end < close && tokens[item.end]?.text !== ',')) return null
    value.push(item.value)
    at = item.end + 1
  }
  return { value, end: close + 1 }
}

function objectAt(tokens: readonly Token[], open: number, close: number): { value: object; end: number } | null {
  const entries: [string, unknown][] = []
  for (let at = open + 1; at < close; ) {
    const key = keyOf(tokens[at])
    const item = key !== null && tokens[at + 1]?.text === ':' ? valueAt(tokens, at + 2, close) : null
    if (key === null || item === null || (item.end < close && tokens[item.end]?.text !== ',')) return null
    entries.push([key, item.value])
    at = item.end + 1
  }
  return { value: Object.fromEntries(entries), end: close + 1 }
}

/** The name of a property: `city`, `'home-town'`, `7`. */
export function keyOf(token: Token | undefined): string | null {
  if (token?.kind === 'name') return /^[@#]/.test(token.text) ? null : token.text
  if (token?.kind === 'string') return textOfString(token)
  if (token?.kind === 'number') return String(Number(token.text.replaceAll('_', '')))
  return null
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', 0: '\0' }

/** Null for a template with a `${…}` in it. */
function textOfString(token: Token): string | null {
  const inner = token.text.slice(1, -1)
  if (token.kind === 'template' && /(?<!\\)(?:\\\\)*\$\{/.test(inner)) return null
  return inner.replace(
    /\\(?:u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|(\r\n|[\s\S]))/g,
    (_, point?: string, unit?: string, byte?: string, char = '') => {
      const code = point ?? unit ?? byte
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16))
      return /[\r\n\u2028\u2029]/.test(char) ? '' : (ESCAPES[char] ?? char)
    },
  )
}
