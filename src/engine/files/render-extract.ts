// An extract as text for a model: sections under their labels, and no line in them that looks like one of our own markers. Only
// the part that is shown is processed, because an extract may be long and the event loop must not be blocked.

import type { Extract, ExtractSection } from '../../domain/session/file.ts'
import { oneLine } from '../../domain/session/file-frame.ts'

export interface Piece {
  text: string
  /** Where it ends: characters of the extract from its first section on, with two between sections. */
  end: number
  /** Index of the section in which it ends, and how many characters of that section are shown. */
  next: number
  offset: number
}

const GAP = '\n\n'
/** In characters. Less of a section is not worth showing. */
const LEAST_PIECE = 200

/** The largest `end` that a piece can have. */
export const lengthOf = (sections: readonly ExtractSection[]): number =>
  sections.reduce((sum, { text }) => sum + text.length + GAP.length, -GAP.length)

export const labelOf = ({ label }: ExtractSection): string => oneLine(label, 100)

/** The sections from `start` on that fit: whole ones, then a part of the next. */
export function renderFrom(sections: readonly ExtractSection[], start: number, budget: number): Piece {
  const shown: string[] = []
  let left = budget
  let position = 0
  for (const [next, section] of sections.entries()) {
    const from = Math.max(0, start - position)
    const begin = position
    position += section.text.length + GAP.length
    if (from > 0 && from >= section.text.length) continue
    const label = labelOf(section)
    const head = label === '' ? '' : `[${label}]\n`
    if (left < head.length) return { text: shown.join(GAP), end: begin + from, next, offset: from }
    const { text, length } = take(section.text.slice(from), left - head.length)
    if (length > 0 || section.text === '') shown.push(head + text)
    if (from + length < section.text.length) {
      return { text: shown.join(GAP), end: begin + from + length, next, offset: from + length }
    }
    left -= head.length + text.length + GAP.length
  }
  return { text: shown.join(GAP), end: lengthOf(sections), next: sections.length, offset: 0 }
}

/** As much of the beginning as fits, and its length before lines were indented. */
function take(text: string, budget: number): { text: string; length: number } {
  if (text.length > budget && budget < LEAST_PIECE) return { text: '', length: 0 }
  for (let limit = budget; ; ) {
    const length = cutPosition(text, limit)
    const shown = harmless(text.slice(0, length))
    if (shown.length <= budget) return { text: shown, length }
    // Indented lines are longer than before, so fewer of them fit.
    limit = Math.floor(length * (budget / shown.length))
  }
}

/** How far back a border may be, as a share of the budget and in characters. Further back, too much text would be lost. */
const FURTHEST_SHARE = 0.5
const FURTHEST_BACK = 20_000

/**
 * Where to cut a text so that at most `limit` characters remain: after a paragraph, row, list item or sentence if possible,
 * otherwise after a line or a word, and never inside a character.
 */
export function cutPosition(text: string, limit: number): number {
  if (text.length <= limit) return text.length
  const most = Math.max(0, Math.floor(limit))
  const least = Math.max(Math.floor(most * FURTHEST_SHARE), most - FURTHEST_BACK)
  // One more character shows whether a sentence ends here.
  const tail = text.slice(least, most + 1)
  for (const border of [lastWholeThought(tail), tail.lastIndexOf('\n') + 1, tail.search(/\s\S*$/) + 1]) {
    if (border > 0 && least + border <= most) return least + border
  }
  // Half of a surrogate pair is not valid text.
  const isSplit = /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(most))
  return isSplit ? most - 1 : most
}

/** Paragraphs, table rows, list items and headings end with their line. A line break inside a sentence does not count. */
const BORDER = /\n(?=\s*(?:\n|\||[-*+] |#{1,6} |\d+[.)] ))|[.!?…]["'”’)\]]*\s|[。！？]/gu

function lastWholeThought(tail: string): number {
  let last = 0
  for (const { index, 0: border } of tail.matchAll(BORDER)) last = index + border.length
  return last
}

/** Our markers begin a line. A line of the file that begins like one, even after invisible characters, is indented. */
const harmless = (text: string): string =>
  text
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(/^(?=(?:[^\S\n]|(?!\n)[\p{Cc}\p{Cf}])*[[［【])/gmu, '  ')
    .trimEnd()

/** `pages 4–12 of 12`, `sheets Orders, Customers`, `page 7 of 9`. */
export function nameSections(some: readonly ExtractSection[], all: readonly ExtractSection[]): string {
  const labels = some.map(labelOf)
  const [first = '', last = ''] = [labels[0], labels.at(-1)]
  const numbered = /^(\p{L}+) (\d+)$/u
  const from = numbered.exec(first)
  const to = numbered.exec(last)
  if (from !== null && to !== null && labels.every((label) => numbered.exec(label)?.[1] === from[1])) {
    return labels.length === 1 ? `${first} of ${all.length}` : `${from[1]}s ${from[2]}–${to[2]} of ${all.length}`
  }
  const kind = /^(\p{L}+) /u.exec(first)?.[1]
  const isOneKind = kind !== undefined && labels.every((label) => label.startsWith(`${kind} `))
  const names = isOneKind ? labels.map((label) => label.slice(kind.length + 1)) : labels
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
  const list = `${names.slice(0, MOST_NAMES).join(', ')}${more}`
  return isOneKind ? `${kind}${names.length === 1 ? '' : 's'} ${list}` : list
}

/** The sections that can be shown. The others were not read yet. */
export const readSections = ({ sections, unread = [] }: Extract): ExtractSection[] => {
  const missing = new Set(unread)
  return missing.size === 0 ? sections : sections.filter(({ label }) => !missing.has(label))
}

/** Says which sections are missing and how to get them. Null if none is. */
export function unreadNote({ unread = [] }: Extract, tool: string): string | null {
  const [first] = unread
  if (first === undefined) return null
  const [are, them] = unread.length === 1 ? ['is', 'it'] : ['are', 'them']
  const ask = `ask for ${them} with ${tool}, from ${JSON.stringify(oneLine(first, 100))}`
  return `${nameRanges(unread)} ${are} not read yet, because there was not enough time; ${ask}.`
}

/** `pages 3–5, 9`. */
function nameRanges(labels: readonly string[]): string {
  const ranges: { kind: string; from: number; to: number }[] = []
  for (const label of labels) {
    const [, kind, digits] = /^(\p{L}+) (\d+)$/u.exec(label) ?? []
    if (kind === undefined) return `${labels.length} parts`
    const last = ranges.at(-1)
    if (last?.to === Number(digits) - 1) last.to += 1
    else ranges.push({ kind, from: Number(digits), to: Number(digits) })
  }
  const shown = ranges.slice(0, MOST_NAMES).map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`))
  const more = ranges.length > MOST_NAMES ? ' and others' : ''
  return `${ranges[0]?.kind}${labels.length === 1 ? '' : 's'} ${shown.join(', ')}${more}`
}

const MOST_NAMES = 20
