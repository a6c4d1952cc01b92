// Parses a regular expression in JavaScript's syntax into a tree, if it can be followed in linear time.

import { anyChar, builtInTest, type CharTest, escapeAt, readClass, readEscape, sameChar } from './char-test.ts'

export type Assertion = 'start' | 'end' | 'word_edge' | 'no_word_edge'

export type PatternTree =
  | { is: 'char'; test: CharTest }
  | { is: 'assert'; that: Assertion }
  | { is: 'sequence'; parts: PatternTree[] }
  | { is: 'choice'; parts: PatternTree[] }
  | { is: 'repeat'; part: PatternTree; min: number; max: number }

export interface ParsedPattern {
  tree: PatternTree
  /** What the text must, or must not, begin with: `^(?!…)`. */
  looks: { tree: PatternTree; wanted: boolean }[]
  /** Characters that only the built-in engine knows, such as `\p{L}`. */
  builtIns: number
}

const nothing: PatternTree = { is: 'sequence', parts: [] }

/** Null for a lookaround that is not at the beginning, and for a backreference. The source must be a valid expression. */
export function parsePattern(source: string, unicode: boolean): ParsedPattern | null {
  let at = 0
  let readable = true
  let builtIns = 0
  /** Up to here, the source is `^` and the look-aheads that follow it. */
  let lookedUntil = source[0] === '^' ? 1 : -1
  const looks: ParsedPattern['looks'] = []
  const char = (test: CharTest): PatternTree => ({ is: 'char', test })
  const builtIn = (text: string): PatternTree => {
    builtIns += 1
    return char(builtInTest(text, unicode))
  }

  const choice = (): PatternTree => {
    const parts = [sequence()]
    while (source[at] === '|') {
      at += 1
      parts.push(sequence())
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { is: 'choice', parts }
  }
  const sequence = (): PatternTree => {
    const parts: PatternTree[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(repeated(atom()))
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { is: 'sequence', parts }
  }
  const repeated = (part: PatternTree): PatternTree => {
    const counted = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y
    counted.lastIndex = at
    const found = counted.exec(source)
    if (found === null) return part
    const [text, from, comma, to] = found
    at += text.length
    if (from === undefined) {
      return { is: 'repeat', part, min: text[0] === '+' ? 1 : 0, max: text[0] === '?' ? 1 : Number.POSITIVE_INFINITY }
    }
    const min = Number(from)
    const max = comma === undefined ? min : to === undefined || to === '' ? Number.POSITIVE_INFINITY : Number(to)
    return { is: 'repeat', part, min, max }
  }
  const atom = (): PatternTree => {
    const one = source[at]
    if (one === '(') return group()
    if (one === '[') return characterClass()
    if (one === '\\') return escaped()
    const code = (unicode ? source.codePointAt(at) : source.charCodeAt(at)) ?? 0
    at += code > 0xffff ? 2 : 1
    if (one === '^') return { is: 'assert', that: 'start' }
    if (one === '$') return { is: 'assert', that: 'end' }
    return char(one === '.' ? anyChar : sameChar(code))
  }
  const group = (): PatternTree => {
    const openings = /\((?:\?(?:[:=!]|<[=!]|<[^>]*>|[a-z-]+:))?/y
    openings.lastIndex = at
    const opening = openings.exec(source)?.[0] ?? '('
    const begins = at === lookedUntil
    at += opening.length
    const inner = choice()
    at += 1
    if (opening === '(' || opening === '(?:' || /^\(\?<[^=!]/.test(opening)) return inner
    if (begins && (opening === '(?=' || opening === '(?!') && !/[*+?{]/.test(source.charAt(at))) {
      looks.push({ tree: inner, wanted: opening === '(?=' })
      lookedUntil = at
    } else readable = false
    return nothing
  }
  const characterClass = (): PatternTree => {
    const from = at
    at += 1
    while (source[at] !== ']') at += source[at] === '\\' ? 2 : 1
    at += 1
    const text = source.slice(from, at)
    const test = readClass(text, unicode)
    return test === null ? builtIn(text) : char(test)
  }
  const escaped = (): PatternTree => {
    const text = escapeAt(source, at, unicode)
    at += text.length
    if (text === '\\b') return { is: 'assert', that: 'word_edge' }
    if (text === '\\B') return { is: 'assert', that: 'no_word_edge' }
    // Backreferences, and escapes that mean something else without the `u` flag: `\k`, `\1`, octal numbers, half of a `\cX`.
    const isOdd = /^\\(?:k|[1-9]|c$)/.test(text) || (text === '\\0' && /\d/.test(source.charAt(at)))
    if (isOdd) {
      readable = false
      return nothing
    }
    const one = readEscape(text)
    if (one === null) return builtIn(text)
    return char('kind' in one ? one.kind : sameChar(one.code))
  }

  const tree = choice()
  // With a choice at the top, the look-aheads belong to the first branch only.
  if (looks.length > 0 && tree.is === 'choice') readable = false
  return readable ? { tree, looks, builtIns } : null
}

/** Counting ends here: nothing as large as this is ever built. */
const COUNTLESS = 1_000_000_000

/** How many states the tree will have once its counted repetitions are written out. */
export function statesOf(tree: PatternTree): number {
  switch (tree.is) {
    case 'char':
    case 'assert':
      return 1
    // An empty part still costs a step each time it is repeated.
    case 'sequence':
      return Math.max(1, sumOf(tree.parts))
    case 'choice':
      return 1 + sumOf(tree.parts)
    case 'repeat': {
      const one = statesOf(tree.part)
      const optional = tree.max === Number.POSITIVE_INFINITY ? 1 : tree.max - tree.min
      return Math.min(Math.max(1, tree.min * one + optional * (one + 1)), COUNTLESS)
    }
  }
}

const sumOf = (parts: readonly PatternTree[]): number => parts.reduce((sum, part) => sum + statesOf(part), 0)
