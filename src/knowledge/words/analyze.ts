// From text to terms: what a passage is found by, and what a query asks for. Both are taken apart by the same rules. A word becomes its
// stem in the language of its document. Numbers, codes and names of things in programs are terms as a whole, and so are their parts.
// Scripts without blanks become pairs of letters.

import { foldWord } from '../../domain/session/search-words.ts'
import { languageOf } from './language.ts'
import { stemOf } from './stem.ts'
import { languagesWith } from './stop-words.ts'

export interface Terms {
  /** How often the text has each term. */
  counts: Map<number, number>
  /** Of all of them together. */
  length: number
}

export interface QueryTerm {
  /** 32 bits, not negative. */
  term: number
  /** Terms with the same number are forms of one word: itself, and its stems in the languages of the index. */
  word: number
  /** Above 0, at most 1. Less for parts of codes, and least for words that every text has. */
  weight: number
}

export interface Analyzer {
  /** `language` as `languageOf` names it. */
  termsOf(text: string, language: string): Terms
  /** Each word once, in their order. */
  queryTerms(query: string, languages: readonly string[]): QueryTerm[]
}

const MOST_QUERY_WORDS = 100
const PART = 0.5
const STOP_WORD = 0.1
/** Entries for each language. Beyond that all are forgotten, which costs less than to know which of them are used. */
const CACHED = 20_000
/** V8 copies a substring that is this short; a longer one would keep the text that it was cut from. */
const LONGEST_CACHED = 12
/** A longer part with letters and digits is encoded data. */
const LONGEST_NAME = 40

/** What the analysis makes of a word or a code. */
interface Unit {
  /** In lower case, and folded unless it is a word. */
  text: string
  isWord: boolean
  isPart: boolean
  /** It asks, or holds a sentence together. Told of scripts without blanks; of words, `languagesWith` tells it. */
  isCommon?: true
}

const UNSPACED = `[[\\p{L}\\p{N}]&&[${['Han', 'Hira', 'Kana', 'Hang', 'Thai', 'Laoo', 'Khmr', 'Mymr'].map((script) => `\\p{scx=${script}}`).join('')}]]`
const LETTER = `[[\\p{L}\\p{N}\\p{M}]--${UNSPACED}]`
const BETWEEN_DIGITS = `(?<=\\p{N})[,'’](?=\\p{N})`
/** `ISO-9001:2015`, `std::vec`, `10.000,50`, `C++`, `§12`. */
const TOKEN = new RegExp(
  `(?<section>§{0,2})(?:(?<unspaced>${UNSPACED}(?:${UNSPACED}|\\p{M})*)|(?<code>${LETTER}+(?:(?:[._\\-‐‑\\/:@=&?#\\\\~+]{1,3}|${BETWEEN_DIGITS})${LETTER}+)*)(?<sign>\\+\\+|#(?![\\p{L}\\p{N}]))?)`,
  'gv',
)
const CLUSTER = /.\p{M}*/gsu
/** Between the parts of an address or a path, each of which may be a code itself. */
const STRONG_JOINT = /[/:@=&?#\\~+]+/
const WEAK_JOINT = /[._\-‐‑,'’]+/
const IS_NAME = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}{2}|\p{L}\p{N}|\p{N}\p{L}/u
const NAME_PART = /\p{N}+|\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{L}/gu
const PLAIN_WORD = /^[A-Z]?[a-z]+[.,;:!?)]?$/

const HIRAGANA = /^\p{scx=Hira}+$/u
/** What asks, in Chinese, Japanese, Korean and Thai. */
const ASKING =
  /什么|什麼|怎么|怎麼|怎样|怎樣|如何|为何|為何|哪里|哪裡|哪个|哪個|哪些|多少|请问|請問|是否|能否|何|誰|教えて|意味|意思|무엇|무슨|어떻게|어디|언제|누가|의미|누구|어느|입니까|습니까|인가요|나요|อะไร|อย่างไร|ยังไง|ทำไม|ที่ไหน|เมื่อไหร่|เมื่อไร|ใคร/g

/** It remembers the terms of frequent words. */
export function createAnalyzer(): Analyzer {
  const caches = new Map<string, Map<string, readonly number[]>>()

  function cacheOf(language: string): Map<string, readonly number[]> {
    const cache = caches.get(language) ?? new Map<string, readonly number[]>()
    if (cache.size >= CACHED) cache.clear()
    caches.set(language, cache)
    return cache
  }

  return {
    termsOf(text, language) {
      const cache = cacheOf(language)
      const counts = new Map<number, number>()
      let length = 0
      for (const chunk of chunksOf(text)) {
        let terms = cache.get(chunk)
        if (terms === undefined) {
          terms = unitsOf(chunk).map((unit) => termOf(unit, language))
          if (chunk.length <= LONGEST_CACHED) cache.set(chunk, terms)
        }
        for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
        length += terms.length
      }
      return { counts, length }
    },

    queryTerms(query, languages) {
      const spoken = languageOf(query)
      const found = new Map<number, QueryTerm>()
      let word = 0
      for (const chunk of chunksOf(query)) {
        for (const unit of unitsOf(chunk, askedPairsOf)) {
          if (word === MOST_QUERY_WORDS) break
          const size = found.size
          for (const { term, weight } of formsOf(unit, languages, spoken)) {
            if (!found.has(term)) found.set(term, { term, word, weight })
          }
          if (found.size > size) word++
        }
      }
      return [...found.values()]
    },
  }
}

/** At blanks. A word that goes on in the next line is one, and so are `§` and its number. */
function chunksOf(text: string): string[] {
  let joined = text
  if (joined.includes('\u00ad')) joined = joined.replaceAll('\u00ad', '')
  if (joined.includes('-\n')) joined = joined.replace(/(?<=\p{L}-)\n[ \t]*(?=\p{L})/gu, '')
  if (joined.includes('§')) joined = joined.replace(/(?<=§)\s(?=\p{N})/gu, '')
  return joined.split(/\s+/)
}

/** What is in a text without blanks. */
function unitsOf(chunk: string, pairs = pairsOf): Unit[] {
  if (PLAIN_WORD.test(chunk)) return [wordUnit(chunk.replace(/[^A-Za-z]$/, ''), false)]
  const units: Unit[] = []
  for (const { groups } of chunk.matchAll(TOKEN)) {
    const { unspaced, code, section, sign } = groups ?? {}
    const found = unspaced === undefined ? codeUnits(code ?? '', section ?? '', sign ?? '') : pairs(unspaced)
    for (const unit of found) units.push(unit)
  }
  return units
}

function pairsOf(run: string): Unit[] {
  const letters = run.normalize('NFKC').toLowerCase().match(CLUSTER) ?? []
  if (letters.length === 1) return letters.map((text) => ({ text, isWord: false, isPart: false }))
  return letters.slice(1).map((letter, i) => ({ text: `${letters[i]}${letter}`, isWord: false, isPart: false }))
}

/** Of a question: the pairs that touch what only asks count less, and so do those of Hiragana, which joins words. */
function askedPairsOf(run: string): Unit[] {
  const text = run.normalize('NFKC').toLowerCase()
  const isAsking = new Uint8Array(text.length)
  for (const { index, 0: found } of text.matchAll(ASKING)) isAsking.fill(1, index, index + found.length)
  let at = 0
  return pairsOf(run).map((unit) => {
    const [first = ''] = unit.text.match(CLUSTER) ?? []
    const isCommon = isAsking.subarray(at, at + unit.text.length).includes(1) || HIRAGANA.test(unit.text)
    at += first.length
    return isCommon ? { ...unit, isCommon } : unit
  })
}

/** The whole and its parts, each once. */
function codeUnits(code: string, section: string, sign: string): Unit[] {
  const units = new Map<string, Unit>()
  const add = (unit: Unit) => {
    if (!units.has(unit.text)) units.set(unit.text, unit)
  }
  const segments = code.split(STRONG_JOINT).map((segment) => segment.split(WEAK_JOINT))
  // Without their signs, `§12`, `C++` and `C#` would be other names.
  if (section + sign !== '')
    add({ text: `${section.slice(0, 1)}${squeezed(segments.flat())}${sign}`, isWord: false, isPart: false })
  if (segments.length > 1) add(wordUnit(squeezed(segments.flat()), units.size > 0))
  for (const parts of segments) {
    if (parts.length > 1) add(wordUnit(squeezed(parts), units.size > 0))
    for (const part of parts) {
      add(wordUnit(squeezed([part]), units.size > 0))
      if (part.length > LONGEST_NAME || !IS_NAME.test(part)) continue
      for (const [piece] of part.matchAll(NAME_PART))
        if (piece.length > 1) add(wordUnit(squeezed([piece]), units.size > 0))
    }
  }
  return [...units.values()]
}

/** `e-mail` is `email`, and `foo_bar` is `fooBar`; but `1.23` is not `12.3`, while `10.000,50` is `10,000.50`. */
function squeezed(parts: readonly string[]): string {
  if (!parts.some((part) => NUMBER.test(part))) return parts.join('').toLowerCase()
  let whole = ''
  for (const part of parts.map(foldWord)) whole += /[0-9]$/.test(whole) && /^[0-9]/.test(part) ? `.${part}` : part
  return whole.replace(/^v(?=[0-9])/, '')
}

const NUMBER = /\p{N}/u

const wordUnit = (text: string, isPart: boolean): Unit => {
  const lower = text.toLowerCase()
  return { text: lower, isWord: !NUMBER.test(lower), isPart }
}

const termOf = ({ text, isWord }: Unit, language: string): number => (isWord ? wordTerm(text, language) : hashOf(text))

function wordTerm(word: string, language: string): number {
  return hashOf(language === '' ? foldWord(word) : `${language}:${stemOf(word, language)}`)
}

/**
 * The terms of a word in documents of unknown language, and in those of each language of the index. A word that every text in the language
 * of the query has says little in all of them: `how` is rare in Spanish pages, so one with an English line in it would win.
 */
function* formsOf(
  unit: Unit,
  languages: readonly string[],
  spoken: string,
): Generator<{ term: number; weight: number }> {
  const common = languagesWith(foldWord(unit.text))
  const most = unit.isCommon || common.has(spoken) ? STOP_WORD : unit.isPart ? PART : 1
  if (!unit.isWord) return yield { term: hashOf(unit.text), weight: most }
  for (const word of new Set([unit.text, withoutUmlauts(unit.text)])) {
    yield { term: wordTerm(word, ''), weight: common.size > 0 ? STOP_WORD : most }
    for (const language of languages)
      if (language !== '') yield { term: wordTerm(word, language), weight: common.has(language) ? STOP_WORD : most }
  }
}

/** As people type it whose keyboard has no umlauts. */
const withoutUmlauts = (word: string): string =>
  word.normalize('NFC').replace(/[äöü]/g, (letter) => `${letter === 'ä' ? 'a' : letter === 'ö' ? 'o' : 'u'}e`)

/** FNV-1a by UTF-16 unit, mixed at the end as MurmurHash3 does. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
