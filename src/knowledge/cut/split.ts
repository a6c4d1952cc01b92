// One block -> pieces: tables between rows, code between lines, text between sentences. Each has the head and the tail of the block.

import type { Content } from './block.ts'

const CHARS_PER_TOKEN = 4
const MOST_CHARS = 1_900
/** A longer head is not repeated, but cut like what is below it. */
const LONGEST_HEAD = 300
const SENTENCE = /[.!?…][\])"'»”]*\s+|[。！？]/g

/** About. A letter of a script without blanks is a token, and so are four characters of any other. */
export function tokensOf(text: string): number {
  let wide = 0
  for (let i = 0; i < text.length; i++) if (isWide(text.charCodeAt(i))) wide++
  return Math.ceil((text.length - wide) / CHARS_PER_TOKEN) + wide
}

const isWide = (unit: number): boolean =>
  unit >= 0x0e00 &&
  ((unit >= 0x2e80 && unit < 0xa000) ||
    (unit >= 0xac00 && unit < 0xd7b0) ||
    unit < 0x0f00 ||
    (unit >= 0xff00 && unit < 0xfff0))

/** Of about so many tokens each. */
export function* piecesOf(block: Content, tokens: number): Generator<Content> {
  const { head, text, places, ...rest } =
    block.head.length <= LONGEST_HEAD ? block : { ...block, head: '', text: `${block.head}\n${block.text}`, tail: '' }
  let at = 0
  let line = 0
  let follows = block.follows
  while (at < text.length) {
    const end = endOfPiece(text, at, tokens, block.kind)
    const whole = text.slice(at, end)
    const piece = (block.kind === 'text' || block.kind === 'item' ? whole.trim() : withoutBlankLines(whole)).trimEnd()
    if (piece !== '') {
      // The blank lines in front of it are not its own.
      const begin = line + linesIn(whole.slice(0, whole.indexOf(piece)))
      yield { ...rest, head, text: piece, follows, places: [places[Math.min(begin, places.length - 1)] ?? NOWHERE] }
      follows = true
    }
    line += linesIn(whole)
    at = end
  }
}

const NOWHERE = { page: null, sheet: null, slide: null, line: null }

const withoutBlankLines = (text: string): string => {
  const first = text.search(/\S/)
  return first === -1 ? '' : text.slice(text.lastIndexOf('\n', first) + 1)
}

function linesIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Looks only at what a piece can hold, so that a line of any length takes linear time. */
function endOfPiece(text: string, from: number, tokens: number, kind: Content['kind']): number {
  const window = text.slice(from, from + Math.min(MOST_CHARS, tokens * CHARS_PER_TOKEN))
  const share = tokensOf(window) / tokens
  const most = Math.max(1, Math.floor(window.length / Math.max(1, share)))
  const isLast = from + most >= text.length
  return from + (isLast ? text.length - from : breakIn(window.slice(0, most), kind))
}

/** The last place in the second half where the text may be cut. */
function breakIn(window: string, kind: Content['kind']): number {
  const half = window.length >> 1
  const isText = kind === 'text' || kind === 'item'
  if (isText) {
    let end = 0
    for (const found of window.slice(half).matchAll(SENTENCE)) end = half + found.index + found[0].length
    if (end > 0) return end
  }
  const breaks = kind === 'code' ? ['\n\n', '\n', ' '] : kind === 'table' ? ['\n', ' | ', ' '] : ['\n', ' ']
  for (const sign of breaks) {
    const at = window.lastIndexOf(sign)
    if (at >= half) return at + sign.length
  }
  for (let at = window.length; at > half; at--) if (/[^\p{L}\p{N}\p{M}\p{Cs}]/u.test(window[at - 1] ?? '')) return at
  return isHighSurrogate(window.charCodeAt(window.length - 1)) && window.length > 1 ? window.length - 1 : window.length
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
