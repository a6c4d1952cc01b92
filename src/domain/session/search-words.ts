// What full-text search takes for a word, what a query asks for, and which part of a text is shown as a hit. Every store uses this, so
// all of them find the same.

import type { Supervision } from '../supervision/supervision.ts'
import { visibleProse } from '../text/visible-text.ts'
import { type StoredMessage, textOf } from './message.ts'

/** Words that follow one another. With `isPrefix` the last one may go on. */
export interface SearchTerm {
  words: readonly string[]
  isPrefix: boolean
}

/** A part of a text. `marks` are the places of what was found, as [from, to] in UTF-16 units of `text`. */
export interface Excerpt {
  text: string
  marks: [from: number, to: number][]
}

export const MAX_QUERY_CHARS = 200
/** Results of tools can be long, and only their beginning is searched. */
const RESULT_CHARS = 4 * 1024
/** Longer words, such as encoded files, are searched by their beginning. */
const MAX_WORD = 64
/** Nearly every text has a word that begins with two given letters. */
const SHORTEST_PREFIX = 3
const EXCERPT_CHARS = 240
/** So much of an excerpt stands before the first mark. */
const LEAD_CHARS = 60

/** Scripts that are written without blanks between words. Each of their letters is a word of its own, and several are a phrase. */
const UNSPACED = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{Script=${script}}`)
  .join('')
const WORD = new RegExp(
  `[[\\p{L}\\p{N}]&&[${UNSPACED}]]\\p{M}*|[[\\p{L}\\p{N}]--[${UNSPACED}]][[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]*`,
  'gv',
)
const PLAIN = /^[a-z0-9]*$/
const ASCII = /^\p{ASCII}*$/u
/** In lower case, and cut to `MAX_WORD`. */
const ASCII_WORD = new RegExp(`(?<![a-z0-9])[a-z0-9]{1,${MAX_WORD}}`, 'g')
/** Accents of European scripts, and the vowel points of Hebrew and Arabic. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]/g
const NOT_OF_A_WORD = /[^\p{L}\p{N}\p{M}]/gu
/** Letters that people type in another way, and that Unicode does not take apart. */
const TYPED_AS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
  ς: 'σ',
}

interface FoundWord {
  word: string
  from: number
  to: number
}

/** The words of a text in order, without accents and capitals. */
function* wordsIn(text: string): Generator<FoundWord> {
  for (const { 0: found, index } of text.matchAll(WORD)) {
    yield { word: foldWord(found), from: index, to: index + found.length }
  }
}

/** Without accents and capitals, and without what follows its first `MAX_WORD` letters. */
export function foldWord(word: string): string {
  const lower = word.slice(0, MAX_WORD).toLowerCase()
  if (PLAIN.test(lower)) return lower
  return lower
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .replace(NOT_OF_A_WORD, '')
    .replace(/[ßøłđðæœıς]/g, (letter) => TYPED_AS[letter] ?? letter)
    .normalize('NFC')
    .toWellFormed()
}

/** The text for an index that splits at blanks. Every message is indexed, so this is written for speed. */
export function indexedText(text: string): string {
  const words = ASCII.test(text) ? text.toLowerCase().match(ASCII_WORD) : text.match(WORD)?.map(foldWord)
  return words?.join(' ') ?? ''
}

/**
 * What a person wrote into a search field: words, "phrases", and beginnings of words (`quart*`). The last word may be a beginning
 * without the star, because people search while they type. A beginning has three letters or more. All of it has to be found. No text is an error; without a word it asks for
 * nothing.
 */
export function parseSearch(query: string): SearchTerm[] {
  const terms: SearchTerm[] = []
  for (const { 0: piece, index } of query.matchAll(/"[^"]*"?|[^\s"]+/g)) {
    const isPhrase = piece.startsWith('"')
    const words = [...wordsIn(piece)].map(({ word }) => word).filter((word) => word !== '')
    const last = words.at(-1)
    if (last === undefined) continue
    const isOpen = piece.endsWith('*') || index + piece.length === query.length
    terms.push({ words, isPrefix: !isPhrase && isOpen && last.length >= SHORTEST_PREFIX })
  }
  return terms
}

/** What is searched of a message; null: nothing. */
export function searchedText(message: Pick<StoredMessage, 'role' | 'content' | 'toolCalls'>): string | null {
  switch (message.role) {
    case 'user':
      return textOf(message.content)
    case 'assistant':
      return [textOf(message.content), ...(message.toolCalls ?? []).map((call) => call.function.name)].join('\n').trim()
    case 'tool':
      return textOf(message.content).slice(0, RESULT_CHARS)
    default:
      return null
  }
}

/** What is searched of the session of an agent elsewhere, beside its messages. */
export const searchedSupervision = ({ title, prompt }: Pick<Supervision, 'title' | 'prompt'>): string =>
  [title, prompt].filter((text) => text !== null).join('\n')

/** Where a term ends with the last of these words, it begins at the returned index. */
function startOf({ words, isPrefix }: SearchTerm, found: readonly FoundWord[]): number | null {
  const start = found.length - words.length
  if (start < 0) return null
  const isHere = words.every((word, i) => {
    const other = found[start + i]?.word ?? ''
    return isPrefix && i === words.length - 1 ? other.startsWith(word) : other === word
  })
  return isHere ? start : null
}

/** Whether the text has all terms. */
export function hasTerms(terms: readonly SearchTerm[], text: string): boolean {
  const missing = new Set(terms)
  const found: FoundWord[] = []
  for (const word of wordsIn(text)) {
    found.push(word)
    for (const term of missing) if (startOf(term, found) !== null) missing.delete(term)
    if (missing.size === 0) return true
  }
  return missing.size === 0
}

/** The part of a text around the first term in it, with all terms in that part marked. Hidden characters are visible in it. */
export function excerptOf(terms: readonly SearchTerm[], text: string): Excerpt {
  const found: FoundWord[] = []
  const marks: [number, number][] = []
  let start = 0
  let end = Number.POSITIVE_INFINITY
  for (const word of wordsIn(text)) {
    if (word.from >= end) break
    found.push(word)
    for (const term of terms) {
      const first = startOf(term, found)
      const from = first === null ? undefined : found[first]?.from
      if (from === undefined) continue
      if (marks.length === 0) {
        start = found.find((one) => one.from >= from - LEAD_CHARS)?.from ?? from
        if (start <= LEAD_CHARS / 2) start = 0
        end = start + EXCERPT_CHARS
      }
      marks.push([from, word.to])
    }
  }
  if (end === Number.POSITIVE_INFINITY) end = EXCERPT_CHARS
  if (end >= text.length) end = text.length
  else end = wholeCharacters(text, end)
  return visibleExcerpt(text, start, end, joined(marks, end))
}

/** A cut must not go through a character of two units. */
const wholeCharacters = (text: string, at: number): number => {
  const unit = text.charCodeAt(at - 1)
  return unit >= 0xd800 && unit < 0xdc00 ? at - 1 : at
}

/** In order, without overlaps, and up to `end`. */
function joined(marks: readonly [number, number][], end: number): [number, number][] {
  const all: [number, number][] = []
  for (const [from, to] of [...marks].sort(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (from >= end) continue
    if (last !== undefined && from <= last[1]) last[1] = Math.min(end, Math.max(last[1], to))
    else all.push([from, Math.min(end, to)])
  }
  return all
}

function visibleExcerpt(text: string, start: number, end: number, places: readonly [number, number][]): Excerpt {
  let shown = start === 0 ? '' : '…'
  let at = start
  const marks: [number, number][] = []
  for (const [from, to] of places) {
    shown += visibleProse(text.slice(at, from))
    const begin = shown.length
    shown += visibleProse(text.slice(from, to))
    marks.push([begin, shown.length])
    at = to
  }
  shown += visibleProse(text.slice(at, end))
  return { text: end < text.length ? `${shown.trimEnd()}…` : shown, marks }
}
