// Reads Markdown into blocks. An answer grows with every event, so what was read before is kept: only its end is read again, and the
// blocks before it stay the same objects, which React then leaves alone.

import { Lexer, type MarkedToken, type Token } from 'marked'
import { mathIn } from './math-tokens.ts'

/** Finding emphasis in a hostile text takes time that grows with the square of its length. Such a text stays as it is. */
const LONGEST_INLINE = 5_000
const LONGEST_INLINE_MS = 150
/** Quotes and lists within each other. A deeper block is shown as it is: drawing it could take more stack than a browser has. */
const DEEPEST = 50
/** A longer text is shown as it is, without formats. Answers come in pieces that are shorter. */
const LONGEST_MARKDOWN = 100_000

export type Block = MarkedToken
export type ReadBlocks = (text: string) => readonly Block[]

/** Reads one text that may grow: make one for each answer. */
export function createBlockReader(now: () => number = () => performance.now()): ReadBlocks {
  let last = ''
  let blocks: readonly Block[] = []
  return (text) => {
    if (text === last) return blocks
    last = text
    blocks = readOn(blocks, text.replace(/\r\n?/g, '\n'), now)
    return blocks
  }
}

function readOn(before: readonly Block[], text: string, now: () => number): readonly Block[] {
  if (text === '') return []
  if (text.length > LONGEST_MARKDOWN) return [asText(text)]
  const kept = finished(before)
  const keptText = kept.map(({ raw }) => raw).join('')
  try {
    if (kept.length > 0 && text.startsWith(keptText)) {
      const rest = lex(text.slice(keptText.length), kept, now)
      // An address that is defined here may be one that an earlier block names.
      if (!rest.some(({ type }) => type === 'def')) return [...kept, ...rest]
    }
    return lex(text, [], now)
  } catch {
    // Thousands of quotes within each other may be too deep for the lexer itself.
    return [asText(text)]
  }
}

/** The blocks that no later text can change: the last two may still become parts of one list, table or heading. */
function finished(blocks: readonly Block[]): readonly Block[] {
  let left = 2
  for (let i = blocks.length - 1; i >= 0; i -= 1) {
    if (blocks[i]?.type !== 'space') left -= 1
    if (left === 0) return blocks.slice(0, i)
  }
  return []
}

function lex(text: string, kept: readonly Block[], now: () => number): Block[] {
  const lexer = new Lexer({ gfm: true, extensions: mathIn(text) })
  for (const block of kept) {
    if (block.type === 'def') lexer.tokens.links[block.tag] ??= { href: block.href, title: block.title }
  }
  const blocks: Token[] = lexer.blockTokens(text, lexer.tokens)
  const until = now() + LONGEST_INLINE_MS
  // The queue grows while it is worked off.
  for (const { src, tokens } of lexer.inlineQueue) {
    if (src.length > LONGEST_INLINE || now() > until) tokens.push({ type: 'text', raw: src, text: src })
    else lexer.inlineTokens(src, tokens)
  }
  return blocks.map((block) => (isTooDeep(block) ? asText(block.raw) : (block as Block)))
}

function isTooDeep(block: Token): boolean {
  const left = [{ token: block, depth: 1 }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { token, depth } = next
    if (depth > DEEPEST) return true
    const inside: Token[] = token.type === 'list' ? token.items : 'tokens' in token ? (token.tokens ?? []) : []
    for (const one of inside) left.push({ token: one, depth: depth + 1 })
  }
  return false
}

const asText = (text: string): Block => ({ type: 'text', raw: text, text })
