// The little Markdown that extracts are made of. It is for models and people to read, so only what would break the structure is
// escaped: the bar and the line break inside a table.

/** Beyond it rows are not filled up: one wide row among many short ones would otherwise cost their product. */
const filledColumns = 100

/** GFM. The first row is the head and as wide as the widest. Empty when there are no rows. */
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

/** Line by line, because an expression for the blanks around a break takes the square of their number. */
const tableCell = (text: string): string =>
  text
    .trim()
    .replace(/\\(?=\||$)/g, '\\\\')
    .replaceAll('|', '\\|')
    .split(/[\r\n\v\u2028]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('<br>')

/** Of a link's target. Browsers take no longer ones, and a long one may be used often. */
export const maxLink = 2_083

/** `depth` counts from 0; `number` makes a numbered item. Lines after the first are indented below it. */
export function listItem(text: string, depth: number, number?: number): string {
  const mark = number === undefined ? '- ' : `${number}. `
  const indent = '    '.repeat(depth)
  return indent + mark + text.trim().replace(/\n\s*/g, `\n${indent}${' '.repeat(mark.length)}`)
}

/** A link whose address is not an address people can follow is left as its text. */
export const markdownLink = (text: string, target: string): string =>
  text.trim() === '' || !/^(https?|mailto|ftp|tel):[^\s<>]+$/i.test(target)
    ? text
    : `[${text.replaceAll(']', '\\]')}](${target.replaceAll('(', '%28').replaceAll(')', '%29')})`

/** Blocks with a blank line between; items of a list stay together. */
export function joinBlocks(blocks: readonly { text: string; item: boolean }[]): string {
  let text = ''
  let before: { item: boolean } | undefined
  for (const block of blocks) {
    if (block.text === '') continue
    if (before !== undefined) text += before.item && block.item ? '\n' : '\n\n'
    text += block.text
    before = block
  }
  return text
}
