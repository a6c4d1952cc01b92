// TypeScript or JavaScript text -> tokens, just well enough to find a function and its parameters without running or compiling it.
// Types and expressions are told apart by whoever reads the tokens: `<` and `>` are always tokens of their own.

import { Unreadable } from './unreadable.ts'

export interface Token {
  kind: 'name' | 'string' | 'number' | 'template' | 'regex' | 'punctuation'
  /** As it is written, with quotes. */
  text: string
  start: number
  /** A line break stands before it. */
  newline: boolean
  /** The JSDoc comment right before it, as it is written. */
  doc: string | null
  /** For a bracket: the index of the one that belongs to it; -1 for everything else. */
  pair: number
}

interface Scan {
  tokens: Token[]
  /** Where it stopped: the end, or the `}` that closes a template's `${`. */
  end: number
}

const NAME = /[@#]?[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy
const NUMBER =
  /(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?)n?/y
const PUNCTUATION = /\.\.\.|=>|\+\+|--|[\s\S]/uy
const REGEX = /\/(?![*/])(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]|[^[/\\\n])+\/[\p{ID_Continue}$]*/uy
const SPACE = /[\s\ufeff]+/y
const STRING = /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y

const CLOSERS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/** After these a value is expected, so a slash begins a regular expression. */
const BEFORE_VALUE = new Set(
  'return typeof instanceof in of new delete void throw case do else yield await default extends'.split(' '),
)
const WITH_HEAD = new Set(['if', 'while', 'for', 'with'])

/** Throws `Unreadable` where the text is not a program. */
export function tokenize(text: string): Token[] {
  return scan(text, text.startsWith('#!') ? endOfLine(text, 0) : 0, false).tokens
}

function scan(text: string, from: number, insideTemplate: boolean): Scan {
  const tokens: Token[] = []
  const open: { index: number; isBlock: boolean }[] = []
  // Whether the bracket pair that a closing bracket ends was followed, in the grammar, by a statement and not by an operator.
  const endsStatement = new Set<number>()
  let at = from
  let newline = false
  let doc: string | null = null

  const add = (kind: Token['kind'], end: number): void => {
    tokens.push({ kind, text: text.slice(at, end), start: at, newline, doc, pair: -1 })
    at = end
    newline = false
    doc = null
  }

  while (at < text.length) {
    const char = text.charAt(at)
    const space = matchEnd(SPACE, text, at)
    if (space !== -1) {
      newline ||= /[\n\r\u2028\u2029]/.test(text.slice(at, space))
      at = space
    } else if (text.startsWith('//', at)) {
      at = endOfLine(text, at)
    } else if (text.startsWith('/*', at)) {
      const end = text.indexOf('*/', at + 2)
      if (end === -1) throw new Unreadable(at, 'a comment does not end')
      const comment = text.slice(at, end + 2)
      if (/^\/\*\*[^/]/.test(comment)) doc = comment
      newline ||= comment.includes('\n')
      at = end + 2
    } else if (char === '"' || char === "'") {
      const end = matchEnd(STRING, text, at)
      if (end === -1) throw new Unreadable(at, 'a string does not end')
      add('string', end)
    } else if (char === '`') {
      add('template', endOfTemplate(text, at))
    } else if (/[0-9]/.test(char) || (char === '.' && /[0-9]/.test(text.charAt(at + 1)))) {
      add('number', matchEnd(NUMBER, text, at))
    } else if (matchEnd(NAME, text, at) !== -1) {
      add('name', matchEnd(NAME, text, at))
    } else if (
      char === '/' &&
      !endsValue(tokens, tokens.length - 1, endsStatement) &&
      matchEnd(REGEX, text, at) !== -1
    ) {
      add('regex', matchEnd(REGEX, text, at))
    } else if (char in CLOSERS) {
      open.push({ index: tokens.length, isBlock: opensBlock(char, tokens) })
      add('punctuation', at + 1)
    } else if (char === ')' || char === ']' || char === '}') {
      const opener = open.pop()
      if (opener === undefined) {
        if (insideTemplate && char === '}') return { tokens, end: at }
        throw new Unreadable(at, `a ${char} closes nothing`)
      }
      const opening = tokens[opener.index]
      if (opening === undefined || CLOSERS[opening.text] !== char)
        throw new Unreadable(at, `a ${char} closes a ${opening?.text}`)
      opening.pair = tokens.length
      if (opener.isBlock) endsStatement.add(tokens.length)
      add('punctuation', at + 1)
      const closing = tokens.at(-1)
      if (closing !== undefined) closing.pair = opener.index
    } else {
      add('punctuation', matchEnd(PUNCTUATION, text, at))
    }
  }
  const unclosed = open.at(-1)
  if (unclosed !== undefined) {
    const token = tokens[unclosed.index]
    throw new Unreadable(token?.start ?? at, `a ${token?.text} is not closed`)
  }
  if (insideTemplate) throw new Unreadable(from, 'a template string does not end')
  return { tokens, end: at }
}

/** Whether what stands at `index` is the end of a value, so that a slash after it divides. */
function endsValue(tokens: readonly Token[], index: number, endsStatement: ReadonlySet<number>): boolean {
  const token = tokens[index]
  if (token === undefined) return false
  if (token.kind === 'name') return !BEFORE_VALUE.has(token.text) || tokens[index - 1]?.text === '.'
  if (token.kind !== 'punctuation') return true
  if (token.text === ')' || token.text === '}') return !endsStatement.has(index)
  if (token.text === ']' || token.text === '++' || token.text === '--') return true
  // TypeScript's `value!`
  return token.text === '!' && !token.newline && endsValue(tokens, index - 1, endsStatement)
}

/** `if (…)` and a block are followed by a statement; a call and an object literal by an operator. */
function opensBlock(bracket: string, before: readonly Token[]): boolean {
  const last = before.at(-1)
  if (bracket === '[') return false
  if (bracket === '(') return last?.kind === 'name' && WITH_HEAD.has(last.text) && before.at(-2)?.text !== '.'
  if (last === undefined) return true
  if (last.kind === 'name') return !BEFORE_VALUE.has(last.text) || last.text === 'else' || last.text === 'do'
  return [')', ']', '}', '{', ';', '=>', '>'].includes(last.text)
}

function endOfTemplate(text: string, start: number): number {
  let at = start + 1
  while (at < text.length) {
    const char = text.charAt(at)
    if (char === '`') return at + 1
    if (char === '\\') at += 2
    else if (text.startsWith('${', at)) at = scan(text, at + 2, true).end + 1
    else at += 1
  }
  throw new Unreadable(start, 'a template string does not end')
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

/** Where a sticky pattern's match at `at` ends; -1 when it does not match. */
function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}
