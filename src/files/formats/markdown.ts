// The Markdown that extracts are made of. Models and people read it, so only what would break the structure is escaped: the bar
// and the line break inside a table.

export interface TextBlock {
  text: string
  item: boolean
}

/** Rows of a wider table are not padded: one wide row would make each of many short rows just as long. */
const filledColumns = 100

/** A table in GitHub's Markdown. The first row is the header and gets as many cells as the widest row. Empty without rows. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const filled = (row: readonly string[], to: number) => Array.from({ length: to }, (_, column) => row[column] ?? '')
  const [head, ...body] = rows
  if (head === undefined || width === 0) return ''
  return [
    lineOf(filled(head, width)),
    `|${' --- |'.repeat(width)}`,
    ...body.map((row) => lineOf(filled(row, width > filledColumns ? row.length : width))),
  ].join('\n')
}

const lineOf = (cells: string[]): string => `| ${cells.map(tableCell).join(' | ')} |`

/** Splits into lines first: a regular expression for the spaces around a line break takes quadratic time. */
const tableCell = (text: string): string =>
  text
    .trim()
    .replace(/\\(?=\||$)/g, '\\\\')
    .replaceAll('|', '\\|')
    .split(/[\r\n\v\u2028]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('<br>')

/** Longest target of a link. Browsers do not accept longer ones, and a file can repeat a long one many times. */
export const maxLink = 2_083

/** `depth` starts at 0. `number` makes a numbered item. Further lines of the text are indented. */
export function listItem(text: string, depth: number, number?: number): string {
  const mark = number === undefined ? '- ' : `${number}. `
  const indent = '    '.repeat(depth)
  return indent + mark + text.trim().replace(/\n\s*/g, `\n${indent}${' '.repeat(mark.length)}`)
}

/** Gives only the text when people cannot follow the address. */
export const markdownLink = (text: string, target: string): string =>
  text.trim() === '' || !/^(https?|mailto|ftp|tel):[^\s<>]+$/i.test(target)
    ? text
    : `[${text.replaceAll(']', '\\]')}](${target.replaceAll('(', '%28').replaceAll(')', '%29')})`

/** Puts a blank line between blocks, but not between two items of a list. */
export function joinBlocks(blocks: readonly TextBlock[]): string {
  let text = ''
  let before: TextBlock | undefined
  for (const block of blocks) {
    if (block.text === '') continue
    if (before !== undefined) text += before.item && block.item ? '\n' : '\n\n'
    text += block.text
    before = block
  }
  return text
}
