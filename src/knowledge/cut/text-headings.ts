// What is a heading in lines of text. In doubt a line is none: it is kept as text then.

import { type Heading, type Line, LONGEST_HEADING } from './block.ts'
import type { TextStyle } from './text-blocks.ts'

const HASHES = /^ {0,3}(#{1,6})[ \t]+(?=\S)/
/** AsciiDoc. */
const EQUALS = /^(={1,6}) (?=\S)/
const UNDERLINE = /^([=\-~^"'`*+#:.])\1{2,}\s*$/
const MARKDOWN_UNDERLINE = /^ {0,3}(?:(=)=*|(-)-+)\s*$/
const NUMBER = /^((?:\d{1,3}|[A-Z](?=\.\d))(?:\.\d{1,3}){0,5})\.?[ \t]+(?=[^\p{Ll}\s])/u
const CHAPTER =
  /^(?:appendix|annex|chapter|part|anhang|kapitel|teil|annexe|chapitre|partie|capítulo|anexo|parte|capitolo|hoofdstuk|bijlage)\s+[\dA-Z]{1,4}\b/iu
const SENTENCE_END = /[.!?:;,。！？]["')\]]*\s*$/
/** A line of a table of contents. */
const LEADS_TO_PAGE = /\.{3}|(?:\. ){3}|\s{2,}\d+\s*$/
const LETTERS = /\p{L}\p{L}/u
const MOST_TITLE_WORDS = 14
const AT_MARGIN = 0.2

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
  const margins = lines.filter(({ text }) => text.trim() !== '')
  /** As in RFCs: only headings begin at the margin. */
  const isIndented = margins.filter(({ text }) => !/^\s/.test(text)).length < margins.length * AT_MARGIN
  let isManual = false
  /** The number of the last one on a page. Another number that does not count on is not a chapter’s. */
  let chapter = 0

  function marked({ text, place }: Line, at: number): Heading | null {
    const mark = (HASHES.exec(text) ?? (style === 'plain' ? EQUALS.exec(text) : null))?.[1]
    if (mark === undefined) return null
    // In plain text, `#` begins a comment.
    if (style === 'page' || (style === 'plain' && !(isBlank(at - 1) && isBlank(at + 1)))) return null
    return { kind: 'heading', level: mark.length, text: titleOf(text.trimStart().slice(mark.length)), place }
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
    if (!isIndented || !isTitle(text) || indentOf(textAt(next)) <= (isBlank(at + 1) ? 1 : 4)) return null
    // Manuals in languages that have no capitals, or do not use them for headings.
    isManual ||= !isBlank(at + 1)
    return 1
  }

  function levelOnPage(text: string, at: number): number | null {
    const before = textAt(at - 1).trim()
    const after = textAt(at + 1).trim()
    const isFree = before === '' || SENTENCE_END.test(before)
    const number = NUMBER.exec(text)?.[1]
    if (number !== undefined) {
      const depth = depthOf(text)
      const isBetween = depthOf(before) > 0 && depthOf(after) > 0
      // Numbers that follow one another are those of a list, or of a table of contents.
      const isListed = isBetween || (depth === 1 && (depthOf(before) === 1 || depthOf(after) === 1))
      if (isListed || !(isFree || before.length < 60) || text.split(' ').length > MOST_TITLE_WORDS) return null
      if (depth > 1) return depth
      const isNext = Number(number) <= 1 || Number(number) === chapter + 1
      if (isNext) chapter = Number(number)
      return isNext ? 1 : null
    }
    if (!isFree) return null
    if (CHAPTER.test(text) && !/\s\d+$/.test(text.replace(CHAPTER, ''))) return 1
    if (isCapital(text) && text.length > 3 && !isCapital(after)) return 1
    return before === '' && after === '' && isTitle(text) ? 3 : null
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
        return { kind: 'heading', level: found[1] === undefined ? 2 : 1, text: titleOf(title), place }
      }
      const sign = UNDERLINE.exec(line)?.[1]
      if (sign === undefined || line.trimEnd().length < title.length - 2 || !LETTERS.test(title)) return null
      if (!underlines.includes(sign)) underlines.push(sign)
      return { kind: 'heading', level: underlines.indexOf(sign) + 1, text: title, place }
    },
  }
}

/** Without marks, tags and the targets of links. */
function titleOf(text: string): string {
  const title = text.trim().replace(/[ \t]+(?:#+|=+|\{#[^{}]*\})$/, '')
  const plain = title
    .replace(/<\/?(?:a|b|br|code|div|em|font|h\d|i|img|kbd|p|picture|small|source|span|strong|sub|sup)\b[^<>]*>/gi, '')
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replaceAll('**', '')
    .trim()
  return plain === '' ? title : plain
}

const indentOf = (text: string): number => (text.trim() === '' ? 0 : text.length - text.trimStart().length)

const isCapital = (text: string): boolean =>
  LETTERS.test(text) && /^\p{Lu}/u.test(text) && !/[\p{Ll}=_*$<>{}\\|]/u.test(text)

const isTitle = (text: string): boolean =>
  /^\s*[\p{Lu}\p{Lo}]/u.test(text) && text.trim().split(/\s+/).length <= MOST_TITLE_WORDS && text.trim().length < 80

/** How deep a number in front of a line is; 0: there is none. */
const depthOf = (text: string): number => NUMBER.exec(text.slice(0, LONGEST_HEADING))?.[1]?.split('.').length ?? 0
