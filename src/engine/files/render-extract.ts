// An extract as text for a model: sections under their labels, and nothing in them that could pass for a frame of ours. Only what
// is shown is looked at: an extract may be long, and the event loop has others to serve.

import type { Extract, ExtractSection } from '../../domain/file.ts'
import { oneLine } from '../../domain/file-frame.ts'

export interface Piece {
  text: string
  /** Where it ends, counted in characters of the extract from the first section, two between two sections. */
  end: number
  /** The section in which it ends, and how much of that is shown. */
  next: number
  offset: number
}

const GAP = '\n\n'
/** Less of a section than this is not worth showing. */
const LEAST_PIECE = 200

/** What `end` counts up to. */
export const lengthOf = (sections: readonly ExtractSection[]): number =>
  sections.reduce((sum, { text }) => sum + text.length + GAP.length, -GAP.length)

export const labelOf = ({ label }: ExtractSection): string => oneLine(label, 100)

/** The sections from `start` on, as far as there is room: whole ones, then a part of the next. */
export function renderFrom(sections: readonly ExtractSection[], start: number, room: number): Piece {
  const shown: string[] = []
  let left = room
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

/** As much of the beginning as fits, and how long that is in the text itself. */
function take(text: string, room: number): { text: string; length: number } {
  if (text.length > room && room < LEAST_PIECE) return { text: '', length: 0 }
  for (let limit = room; ; ) {
    const length = cutPosition(text, limit)
    const shown = harmless(text.slice(0, length))
    if (shown.length <= room) return { text: shown, length }
    // Lines that were moved are longer than they were: less of them is shown.
    limit = Math.floor(length * (room / shown.length))
  }
}

/** A border that lies further back than this share of the room, or than this many characters, is none: too much would be lost. */
const FURTHEST_SHARE = 0.5
const FURTHEST_BACK = 20_000

/**
 * Where to cut a text so that at most `limit` characters remain: behind a paragraph, a row, a list item or a sentence; failing
 * that behind a line, then a word; never inside of a character.
 */
export function cutPosition(text: string, limit: number): number {
  if (text.length <= limit) return text.length
  const room = Math.max(0, Math.floor(limit))
  const least = Math.max(Math.floor(room * FURTHEST_SHARE), room - FURTHEST_BACK)
  // One more character shows whether what ends here ends a sentence.
  const tail = text.slice(least, room + 1)
  for (const border of [lastWholeThought(tail), tail.lastIndexOf('\n') + 1, tail.search(/\s\S*$/) + 1]) {
    if (border > 0 && least + border <= room) return least + border
  }
  // Half of a surrogate pair is no text.
  const isSplit = /[\uD800-\uDBFF]/.test(text.charAt(room - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(room))
  return isSplit ? room - 1 : room
}

/** Paragraphs, rows of tables, list items and headings end with their line; a line inside of a sentence does not count. */
const BORDER = /\n(?=\s*(?:\n|\||[-*+] |#{1,6} |\d+[.)] ))|[.!?…]["'”’)\]]*\s|[。！？]/gu

function lastWholeThought(tail: string): number {
  let last = 0
  for (const { index, 0: border } of tail.matchAll(BORDER)) last = index + border.length
  return last
}

/** Frames stand at the left edge. A line of a file that begins like one, whatever invisible stands before it, is moved away from there. */
const harmless = (text: string): string =>
  text
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(/^(?=(?:[^\S\n]|(?!\n)[\p{Cc}\p{Cf}])*[[［【])/gmu, '  ')
    .trimEnd()

/** `pages 4–12 of 12`, `sheets Orders, Customers`, `page 7 of 9`; how many there are, where the sections have no names. */
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

/** What can be shown: the other sections were not read yet. */
export const readSections = ({ sections, unread = [] }: Extract): ExtractSection[] => {
  const missing = new Set(unread)
  return missing.size === 0 ? sections : sections.filter(({ label }) => !missing.has(label))
}

/** Which sections are missing, and how to get them; null when none is. */
export function unreadNote({ unread = [] }: Extract, tool: string): string | null {
  const [first] = unread
  if (first === undefined) return null
  const [are, them] = unread.length === 1 ? ['is', 'it'] : ['are', 'them']
  const ask = `ask for ${them} with ${tool}, from ${JSON.stringify(oneLine(first, 100))}`
  return `${nameRanges(unread)} ${are} not read yet, because that takes longer than there was time; ${ask}.`
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
