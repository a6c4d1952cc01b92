// One paragraph of a Word document, and how it becomes Markdown.

import { listItem, markdownLink, type TextBlock } from '../../markdown.ts'
import type { DocxNumbering } from './docx-numbering.ts'
import { type DocxStyles, headingAt } from './docx-styles.ts'

export interface Look {
  bold: boolean
  italic: boolean
  link: string | undefined
}

export interface DocxParagraph {
  style: string | undefined
  outline: number | undefined
  list: string | undefined
  level: number | undefined
  /** The end of the paragraph was deleted. If it has no text either, it does not count as a list item. */
  removed: boolean
  runs: (Look & { text: string })[]
}

export const createDocxParagraph = (): DocxParagraph => ({
  style: undefined,
  outline: undefined,
  list: undefined,
  level: undefined,
  removed: false,
  runs: [],
})

/** Joins neighbours that look the same into one run: Word splits words wherever somebody edited them. */
export function addText({ runs }: DocxParagraph, text: string, { bold, italic, link }: Look): void {
  const before = runs.at(-1)
  if (before !== undefined && before.bold === bold && before.italic === italic && before.link === link) {
    before.text += text
  } else runs.push({ text, bold, italic, link })
}

/** `inCell`: headings are shown as ordinary lines. */
export function paragraphBlock(
  paragraph: DocxParagraph,
  styles: DocxStyles,
  numbering: DocxNumbering,
  inCell: boolean,
): TextBlock {
  const { outline, level } = paragraph
  const style = styles.ofParagraph(paragraph.style)
  const heading = outline === undefined ? (style.heading ?? 0) : headingAt(outline)
  const isHeading = heading > 0 && !inCell
  const text = inline(paragraph, !isHeading).trim()
  if (text === '' && paragraph.removed) return { text, item: false }
  const list = paragraph.list ?? style.list
  // An empty item is not shown, but Word counts it.
  const mark = list === undefined ? undefined : numbering.next(list, level ?? style.listLevel, paragraph.style)
  if (text === '') return { text, item: false }
  const numbered = mark === undefined || mark.label === '' ? text : `${mark.label} ${text}`
  if (isHeading) return { text: `${'#'.repeat(Math.min(6, heading))} ${oneLine(numbered)}`, item: false }
  if (mark === undefined || heading > 0) return { text: numbered, item: false }
  const item = mark.simple
    ? listItem(text, mark.level, mark.kind === 'number' ? mark.count : undefined)
    : listItem(numbered, mark.level)
  return { text: item, item: true }
}

const inline = ({ runs }: DocxParagraph, withEmphasis: boolean): string =>
  runs
    .map((run) =>
      run.link === undefined ? (withEmphasis ? emphasised(run) : run.text) : markdownLink(run.text, run.link),
    )
    .join('')

/** The marks stand directly at the words: `**bold **` is not bold in Markdown. */
function emphasised({ text, bold, italic }: Look & { text: string }): string {
  if (!(bold || italic)) return text
  const words = text.trim()
  if (words === '' || words.includes('\n')) return text
  const mark = `${bold ? '**' : ''}${italic ? '*' : ''}`
  const start = text.indexOf(words)
  return text.slice(0, start) + mark + words + [...mark].reverse().join('') + text.slice(start + words.length)
}

const oneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
