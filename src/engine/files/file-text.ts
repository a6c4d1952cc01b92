// The files of one message as text that follows the user's words, cut to the given number of characters.

import type { Extract, ExtractSection } from '../../domain/session/file.ts'
import { FILES_NOTICE, fileLine, oneLine } from '../../domain/session/file-frame.ts'
import { labelOf, lengthOf, nameSections, type Piece, readSections, renderFrom, unreadNote } from './render-extract.ts'

export interface TextFile {
  as: 'text'
  name: string
  extract: Extract
}

/** One line instead of the content: the file is attached, could not be read, or does not fit. */
export interface LineFile {
  as: 'line'
  name: string
  line: string
  /** The tool can show the content. */
  isLeftOut: boolean
}

export type FileText = TextFile | LineFile

export interface ShownText {
  text: string
  /** Something was left out that the tool can show. */
  isCut: boolean
}

const GAP = '\n\n'
/** Characters for the line that says what was cut. */
const NOTE_CHARS = 200

/** `budget` is the number of characters for all files together. A file that needs less than its share leaves the rest to the others. */
export function filesText(files: readonly FileText[], budget: number, tool: string): ShownText {
  if (files.length === 0) return { text: '', isCut: false }
  const budgets = shareOut(
    files.map((file) => needOf(file, tool)),
    budget - FILES_NOTICE.length - GAP.length,
  )
  const shown = files.map((file, index) =>
    file.as === 'line' ? { text: lineText(file), isCut: file.isLeftOut } : textOf(file, budgets[index] ?? 0, tool),
  )
  return {
    text: [FILES_NOTICE, ...shown.map(({ text }) => text)].join(GAP),
    isCut: shown.some(({ isCut }) => isCut),
  }
}

/** An estimate with labels and indented lines. A little too much does no harm. */
function needOf(file: FileText, tool: string): number {
  if (file.as === 'line') return lineText(file).length + GAP.length
  const sections = readSections(file.extract)
  const labels = sections.reduce((sum, { label }) => sum + label.length + 3, 0)
  return headOf(file, tool).length + labels + Math.ceil(lengthOf(sections) * 1.1) + NOTE_CHARS + GAP.length
}

const lineText = ({ name, line }: LineFile): string => `${fileLine(name)}\n${oneLine(line, 500)}`

function headOf({ name, extract }: TextFile, tool: string): string {
  const unread = unreadNote(extract, tool)
  const notes = unread === null ? extract.notes : [...extract.notes, unread]
  return [fileLine(name), ...notes.map((note) => `[note: ${oneLine(note, 500)}]`)].join('\n')
}

function textOf(file: TextFile, budget: number, tool: string): ShownText {
  const head = headOf(file, tool)
  const sections = readSections(file.extract)
  const isUnread = sections.length < file.extract.sections.length
  if (sections.every(({ text }) => text.trim() === '')) {
    return { text: isUnread ? head : `${head}\n[note: No text was found in this file.]`, isCut: isUnread }
  }
  const piece = renderFrom(sections, 0, budget - head.length - GAP.length - NOTE_CHARS)
  const lines = [head, ...(piece.text === '' ? [] : [piece.text])]
  if (piece.next === sections.length) return { text: lines.join('\n'), isCut: isUnread }
  return { text: [...lines, `[${leftOut(sections, file.extract.sections, piece, tool)}]`].join('\n'), isCut: true }
}

function leftOut(
  sections: readonly ExtractSection[],
  all: readonly ExtractSection[],
  { next, offset }: Piece,
  tool: string,
): string {
  const section = sections[next]
  const label = section === undefined ? '' : labelOf(section)
  if (section === undefined || label === '') {
    const shown = `${offset} of ${lengthOf(sections)} characters are shown`
    return `cut here: ${shown}; read on with ${tool}${offset === 0 ? '' : `, offset ${offset}`}`
  }
  const left = sections.slice(offset === 0 ? next : next + 1)
  const are = left.length === 1 ? 'is' : 'are'
  const them = left.length === 1 ? 'it' : 'them'
  if (offset === 0) return `${nameSections(left, all)} ${are} left out; read ${them} with ${tool}`
  const others = left.length === 0 ? '' : ` and ${nameSections(left, all)} ${are} left out`
  const cut = `${label} is cut here (${offset} of ${section.text.length} characters)`
  return `${cut}${others}; read on with ${tool}, from ${JSON.stringify(label)}, offset ${offset}`
}

/** Each file gets what it needs, up to an equal share of what the smaller ones leave. */
function shareOut(needs: readonly number[], total: number): number[] {
  const shares = needs.map(() => 0)
  let left = Math.max(0, total)
  const bySize = [...needs.entries()].sort(([, a], [, b]) => a - b)
  for (const [position, [index, need]] of bySize.entries()) {
    const share = Math.min(need, Math.floor(left / (bySize.length - position)))
    shares[index] = share
    left -= share
  }
  return shares
}
