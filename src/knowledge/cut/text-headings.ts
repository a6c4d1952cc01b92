// What is a heading in lines of text. In doubt a line is none: it is kept as text then.

import { type Heading, type Line, LONGEST_HEADING } from './block.ts'
import type { TextStyle } from './text-blocks.ts'

const HASHES = /^ {0,3}(#{1,6})[ \t]+(?=\S)/
/** AsciiDoc. */
const EQUALS = /^(={1,6}) (?=\S)/
const UNDERLINE = /^([=\-~^"'`*+#:.])\1{2,}\s*$/
const MARKDOWN_UNDERLINE = /^ {0,3}(?:(=)=*|(-)-+)\s*$/
const NUMBER =
  /^(?:appendix |annex |anhang |annexe )?((?:\d{1,3}|[A-Z](?=\.))(?:\.\d{1,3}){0,5})\.?[ \t]+(?=[^\p{Ll}\s])/iu
const CHAPTER =
  /^(?:appendix|annex|chapter|part|anhang|kapitel|teil|annexe|chapitre|partie|capítulo|anexo|parte|capitolo|hoofdstuk|bijlage)\s+[\dA-Z]{1,4}\b/iu
const SENTENCE_END = /[.!?:;,。！？]["')\]]*\s*$/
/** A line of a table of contents. */
const LEADS_TO_PAGE = /\.{3}|(?:\. ){3}|\s{2,}\d+\s*$/
const LETTERS = /\p{L}\p{L}/u
const MOST_TITLE_WORDS = 14

export interface HeadingRules {
  /** `isFirst`: it does not stand in a paragraph. */
  of(at: number, isFirst: boolean): Heading | null
  /** Whether `line` only underlines the line before it. */
  underlined(title: Line, line: Line): Heading | null
}

export function createHeadingRules(lines: readonly Line[], style: TextStyle): HeadingRules {
  const textAt = (at: number): string => lines[at]?.text ?? ''
  const isBlank = (at: number): boolean => textAt(at).trim() === ''
  const underlines: string[] = []
  let isManual = false
  /** Of the last numbered heading of a page. Numbers that do not count on are those of a list or a table. */
  let counted: readonly number[] = []

  function marked({ text, place }: Line, at: number): Heading | null {
    const mark = (HASHES.exec(text) ?? (style === 'plain' ? EQUALS.exec(text) : null))?.[1]
    if (mark === undefined) return null
    // In plain text, `#` begins a comment.
    if (style === 'page' || (style === 'plain' && !(isBlank(at - 1) && isBlank(at + 1)))) return null
    const title = text
      .trimStart()
      .slice(mark.length)
      .trim()
      .replace(/[ \t]+[#=]+$/, '')
    return { kind: 'heading', level: mark.length, text: title, place }
  }

  function levelInText(text: string, at: number): number | null {
    if (!isBlank(at - 1)) return null
    const indent = text.length - text.trimStart().length
    if (indent === 3 && isManual && indentOf(textAt(at + 1)) > 4 && isTitle(text)) return 2
    if (indent > 0) return null
    const numbered = NUMBER.exec(text)
    if (isBlank(at + 1) && numbered?.[1] !== undefined) return numbered[1].split('.').length
    if (isBlank(at + 1) && CHAPTER.test(text)) return 1
    const next = isBlank(at + 1) ? at + 2 : at + 1
    if (isCapital(text) && (isBlank(at + 1) || indentOf(textAt(next)) > 2)) {
      isManual ||= !isBlank(at + 1)
      return 1
    }
    return isBlank(at + 1) && isTitle(text) && indentOf(textAt(next)) > 1 ? 1 : null
  }

  function levelOnPage(text: string, at: number): number | null {
    const before = textAt(at - 1).trim()
    const isFree = before === '' || SENTENCE_END.test(before) || before.length < 40
    const number = NUMBER.exec(text)?.[1]
    if (number !== undefined) {
      const parts = number.split('.').map(Number)
      if (!isFree || !isNextAfter(counted, parts)) return null
      if (parts.length === 1 && (NUMBER.test(before) || NUMBER.test(textAt(at + 1).trim()))) return null
      counted = parts
      return parts.length
    }
    if (!isFree) return null
    if (CHAPTER.test(text) || (isCapital(text) && text.length > 3 && !isCapital(textAt(at + 1).trim()))) return 1
    return isBlank(at - 1) && isBlank(at + 1) && isTitle(text) ? 3 : null
  }

  return {
    of(at, isFirst) {
      const line = lines[at]
      if (line === undefined || line.text.length > LONGEST_HEADING) return null
      const heading = marked(line, at)
      if (heading !== null || style === 'markdown') return heading
      if (SENTENCE_END.test(line.text) || LEADS_TO_PAGE.test(line.text) || !LETTERS.test(line.text)) return null
      if (style === 'plain' && !isFirst) return null
      const level = style === 'page' ? levelOnPage(line.text.trim(), at) : levelInText(line.text, at)
      return level === null ? null : { kind: 'heading', level, text: line.text.trim(), place: line.place }
    },

    underlined({ text, place }, { text: line }) {
      const title = text.trim()
      if (style === 'page' || text.length > LONGEST_HEADING || line.length > LONGEST_HEADING * 2) return null
      if (style === 'markdown') {
        const found = MARKDOWN_UNDERLINE.exec(line)
        if (found === null || /^(?:[-*+>|]|\d+[.)])\s/.test(title)) return null
        return { kind: 'heading', level: found[1] === undefined ? 2 : 1, text: title, place }
      }
      const sign = UNDERLINE.exec(line)?.[1]
      if (sign === undefined || line.trimEnd().length < title.length - 2 || !LETTERS.test(title)) return null
      if (!underlines.includes(sign)) underlines.push(sign)
      return { kind: 'heading', level: underlines.indexOf(sign) + 1, text: title, place }
    },
  }
}

const indentOf = (text: string): number => (text.trim() === '' ? 0 : text.length - text.trimStart().length)

const isCapital = (text: string): boolean => LETTERS.test(text) && /^\p{Lu}/u.test(text) && !/\p{Ll}/u.test(text)

const isTitle = (text: string): boolean =>
  /^\s*[\p{Lu}\p{Lo}]/u.test(text) && text.trim().split(/\s+/).length <= MOST_TITLE_WORDS && text.trim().length < 80

/** `2` and `1.3` follow `1.2`, and so does `1.2.1`. */
function isNextAfter(before: readonly number[], now: readonly number[]): boolean {
  const last = now.length - 1
  if (now.some(Number.isNaN)) return true
  const sameAbove = now.slice(0, last).every((part, i) => part === before[i])
  if (sameAbove) return now[last] === (before[last] ?? 0) + 1 || (before.length === 0 && (now[last] ?? 0) < 20)
  return now.slice(1).every((part) => part <= 1) && (now[0] ?? 0) <= (before[0] ?? 0) + 1
}
