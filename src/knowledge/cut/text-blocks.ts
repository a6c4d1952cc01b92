// Lines -> blocks, for everything that is written in lines: Markdown and its relatives, plain text, and the pages of a PDF. They differ in
// what they take for a heading.

import { type Block, type Content, type Heading, type Line, LONGEST_HEADING, textBlock } from './block.ts'
import { createHeadingRules } from './text-headings.ts'

/** `page`: text that was laid out, without blank lines between paragraphs. */
export type TextStyle = 'markdown' | 'plain' | 'page'

const FENCE = /^\s*(`{3,}|~{3,})/
const TABLE_RULE = /^[\s|]*:?-[\s|:-]*$/
/** `o` is the bullet of RFCs. */
const BULLET = /^\s*[-*+•‣◦▪–o]\s+\S/
const NUMBERED = /^\s*(?:\(?\d{1,3}[.)]|\(?[A-Za-z][.)])\s+\S/
/** A line of one repeated sign only separates. */
const RULE = /^\s*([-=*_~#+.])(?:\s?\1){2,}\s*$/
const LONGEST_RULE = 300
const FRONT_MATTER_LINES = 200

export function textBlocks(lines: readonly Line[], style: TextStyle): Block[] {
  const blocks: Block[] = []
  const headings = createHeadingRules(lines, style)
  let paragraph: { lines: Line[]; kind: Content['kind']; follows: boolean } | null = null
  let isInList = false

  function close(): void {
    if (paragraph !== null) blocks.push(textBlock(paragraph.lines, paragraph.kind, paragraph.follows))
    paragraph = null
  }
  function pushHeading(heading: Heading): void {
    close()
    isInList = false
    blocks.push(heading)
  }

  let at = style === 'markdown' ? frontMatter(lines, blocks) : 0
  for (; at < lines.length; at++) {
    const line = lines[at]
    if (line === undefined) break
    if (line.text.trim() === '') {
      close()
      continue
    }
    const alone: Line | undefined = paragraph?.lines.length === 1 ? paragraph.lines[0] : undefined
    const underlined = alone === undefined ? null : headings.underlined(alone, line)
    if (underlined !== null) {
      paragraph = null
      pushHeading(underlined)
      continue
    }
    const heading = headings.of(at, paragraph === null)
    if (heading !== null) {
      pushHeading(heading)
      continue
    }
    const fence = style === 'page' ? null : FENCE.exec(line.text)
    if (fence?.[1] !== undefined) {
      close()
      at = fenced(lines, at, fence[1], blocks)
      continue
    }
    if (line.text.includes('|') && isRuleOfTable(lines[at + 1]?.text)) {
      close()
      at = table(lines, at, blocks)
      isInList = false
      continue
    }
    if (line.text.length < LONGEST_RULE && RULE.test(line.text) && (paragraph === null || style === 'markdown')) {
      close()
      continue
    }
    const isBroken: boolean = paragraph === null || paragraph.kind === 'item'
    if (BULLET.test(line.text) || (isBroken && NUMBERED.test(line.text))) {
      close()
      paragraph = { lines: [line], kind: 'item', follows: isInList }
      isInList = true
    } else if (paragraph !== null) paragraph.lines.push(line)
    else {
      // Indented text behind an item belongs to it.
      if (!/^(?: {2}|\t)/.test(line.text)) isInList = false
      paragraph = { lines: [line], kind: 'text', follows: isInList }
    }
  }
  close()
  return blocks
}

const isRuleOfTable = (text: string | undefined): boolean => text?.includes('|') === true && TABLE_RULE.test(text)

/** Returns the index of the last line of the table. */
function table(lines: readonly Line[], from: number, blocks: Block[]): number {
  let end = from + 2
  while (lines[end]?.text.includes('|') === true) end++
  const head = lines.slice(from, from + 2).map(({ text }) => text)
  const rows = textBlock(lines.slice(end > from + 2 ? from + 2 : from + 1, end), 'table')
  // A table without rows is its header.
  blocks.push(end > from + 2 ? { ...rows, head: head.join('\n') } : { ...rows, text: head.join('\n') })
  return end - 1
}

/** Code that is never closed goes on to the end. */
function fenced(lines: readonly Line[], from: number, fence: string, blocks: Block[]): number {
  const isEnd = (text: string) =>
    text.trimStart().startsWith(fence) && text.trim().length < LONGEST_HEADING && new Set(text.trim()).size === 1
  let end = from + 1
  while (end < lines.length && !isEnd(lines[end]?.text ?? '')) end++
  const code = textBlock(lines.slice(from + 1, end), 'code')
  if (code.text.trim() !== '') blocks.push({ ...code, head: lines[from]?.text ?? fence, tail: fence })
  else blocks.push(textBlock(lines.slice(from, end), 'code'))
  return end
}

/** Returns the index of the first line behind it. */
function frontMatter(lines: readonly Line[], blocks: Block[]): number {
  if (lines[0]?.text.trimEnd() !== '---') return 0
  const end = lines.slice(1, FRONT_MATTER_LINES).findIndex(({ text }) => /^(?:---|\.\.\.)\s*$/.test(text)) + 1
  if (end === 0) return 0
  const inner = lines.slice(1, end)
  for (const { text, place } of inner) {
    const title = text.length > LONGEST_HEADING ? undefined : /^title:\s*["']?([^"']+)/i.exec(text)?.[1]?.trim()
    if (title === undefined || title === '') continue
    blocks.push({ kind: 'heading', level: 0, text: title, place })
    break
  }
  if (inner.length > 0) blocks.push(textBlock(inner, 'code'))
  return end + 1
}
