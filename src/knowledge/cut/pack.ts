// Blocks -> passages: sections below their headings, tiny ones together, large ones in parts of about the same size.

import type { Place } from '../../domain/knowledge/passage.ts'
import type { Block, Content, Heading } from './block.ts'
import { piecesOf, tokensOf } from './split.ts'

export interface CutPassage {
  text: string
  /** From the title down. */
  headings: readonly string[]
  place: Place
  /** It goes on in the list, table, code or paragraph in which the passage before it ends. */
  continues: boolean
}

const AIM = 350
const MOST = 500
const MOST_CHARS = 2_300
/** A section with fewer tokens shares a passage with its neighbours. */
const TINY = 40
const ENOUGH = 120
/** What leads on to the next block stays with it, if it is this short. */
const LEAD_IN = 60

interface Section {
  path: readonly Heading[]
  blocks: Sized[]
  tokens: number
}

interface Sized extends Content {
  tokens: number
  isHeading: boolean
}

export const packed = (blocks: Iterable<Block>): CutPassage[] => [...passagesIn(blocks)]

function* passagesIn(blocks: Iterable<Block>): Generator<CutPassage> {
  let group: Section[] = []
  let tokens = 0
  for (const section of sectionsOf(blocks)) {
    if (group.length > 0 && !isShared(group, tokens, section)) {
      yield* passagesOf(group)
      group = []
      tokens = 0
    }
    group.push(section)
    tokens += section.tokens
  }
  yield* passagesOf(group)
}

/** Each heading with what stands below it, up to the next heading. One without anything below it is a section too. */
function* sectionsOf(blocks: Iterable<Block>): Generator<Section> {
  let path: readonly Heading[] = []
  let section: Section = { path, blocks: [], tokens: 0 }
  for (const block of blocks) {
    if (block.kind !== 'heading') {
      const tokens = tokensOf(block.text) + tokensOf(block.head)
      section.blocks.push({ ...block, tokens, isHeading: false })
      section.tokens += tokens
      continue
    }
    const above = path.filter(({ level }) => level < block.level)
    const hasParts = above.length === path.length
    if (section.blocks.length > 0 || !hasParts) yield section
    path = [...above, block]
    section = { path, blocks: [], tokens: tokensOf(block.text) + 2 }
  }
  if (section.blocks.length > 0 || path.length > 0) yield section
}

const isBare = (section: Section): boolean => section.blocks.length === 0

/** Tiny sections below the same heading, and headings without a text with the section behind them. */
function isShared(group: readonly Section[], tokens: number, next: Section): boolean {
  const path = group[0]?.path ?? []
  // `1.1 > Fixed` and `1.0 > Fixed` are below the same title.
  const base = path.slice(0, Math.min(Math.max(0, path.length - 1), Math.max(1, path.length - 2)))
  if (!base.every((heading, i) => next.path[i] === heading)) return false
  if (group.every(isBare) && tokens < TINY) return true
  const last = group.at(-1)
  return last !== undefined && last.tokens < TINY && next.tokens < TINY && tokens < ENOUGH
}

function* passagesOf(group: readonly Section[]): Generator<CutPassage> {
  const last = group.at(-1)
  if (last === undefined) return
  const isOwn = !isBare(last) && (group.length === 1 || last.tokens >= TINY)
  const path = isOwn ? last.path : commonPath(group)
  const said = new Set(path)
  const blocks: Sized[] = []
  for (const section of group) {
    for (const heading of section.path) {
      if (!said.has(heading)) blocks.push(headingLine(heading))
      said.add(heading)
    }
    // Not all at once: there can be more of them than a call has room for.
    for (const block of section.blocks) blocks.push(block)
  }
  const headings = path.map(({ text }) => text)
  for (const part of partsOf(blocks)) {
    const first = part[0]
    const place = first?.places[0]
    if (place !== undefined) yield { text: textOf(part), headings, place, continues: first?.follows === true }
  }
}

/** Of a single heading without text: what is above it. */
function commonPath(group: readonly Section[]): readonly Heading[] {
  const [first] = group
  if (first === undefined) return []
  if (group.length === 1) return first.path.slice(0, -1)
  const differs = first.path.findIndex((heading, i) => group.some(({ path }) => path[i] !== heading))
  const shared = differs === -1 ? first.path : first.path.slice(0, differs)
  return group.every(isBare) ? shared.slice(0, -1) : shared
}

const headingLine = ({ level, text, place }: Heading): Sized => ({
  kind: 'text',
  text: `${'#'.repeat(Math.min(6, Math.max(1, level)))} ${text}`,
  ...{ head: '', tail: '', follows: false, places: [place] },
  tokens: tokensOf(text) + 2,
  isHeading: true,
})

/** Parts of about the same size, cut between blocks where it can be. */
function* partsOf(blocks: readonly Sized[]): Generator<Sized[]> {
  let left = blocks.reduce((sum, { tokens }) => sum + tokens, 0)
  let part: Sized[] = []
  let size = { tokens: 0, chars: 0 }
  for (const block of blocks)
    for (const piece of piecesWithin(block)) {
      const isTooMuch = size.tokens + piece.tokens > MOST || size.chars + charsOf(piece) > MOST_CHARS
      // What is left is divided evenly, so that no small rest stays.
      const all = left + size.tokens
      const goal = all / Math.max(1, Math.round(all / AIM))
      if (part.length > 0 && (isTooMuch || (all > MOST && size.tokens + piece.tokens / 2 > goal))) {
        const carried = leadIn(part, piece)
        yield part
        part = carried
        size = part.reduce((sum, one) => ({ tokens: sum.tokens + one.tokens, chars: sum.chars + charsOf(one) }), {
          tokens: 0,
          chars: 0,
        })
      }
      part.push(piece)
      size = { tokens: size.tokens + piece.tokens, chars: size.chars + charsOf(piece) }
      left -= piece.tokens
    }
  if (part.length > 0) yield part
}

/** Takes the headings, or the sentence that ends with a colon, from the end of a part: they belong to what follows. */
function leadIn(part: Sized[], next: Sized): Sized[] {
  const carried: Sized[] = []
  let room = { tokens: MOST - next.tokens, chars: MOST_CHARS - charsOf(next) }
  for (let last = part.at(-1); part.length > 1 && last !== undefined; last = part.at(-1)) {
    const leadsOn = last.isHeading || (last.tokens < LEAD_IN && /[:：]\s*$/.test(last.text.slice(-4)))
    room = { tokens: room.tokens - last.tokens, chars: room.chars - charsOf(last) }
    if (!leadsOn || room.tokens < 0 || room.chars < 0) break
    carried.unshift(last)
    part.pop()
  }
  return carried
}

const charsOf = ({ text, head, tail }: Content): number => text.length + head.length + tail.length + 4

function* piecesWithin(block: Sized): Generator<Sized> {
  if (block.tokens <= MOST && charsOf(block) <= MOST_CHARS) return yield block
  for (const piece of piecesOf(block, AIM))
    yield { ...piece, tokens: tokensOf(piece.text) + tokensOf(piece.head), isHeading: block.isHeading }
}

/** Pieces of one table or one piece of code share their head. */
function textOf(blocks: readonly Content[]): string {
  let text = ''
  let open: Content | null = null
  const shut = () => (open === null || open.tail === '' ? '' : `\n${open.tail}`)
  for (const block of blocks) {
    const goesOn: boolean =
      open !== null && block.follows && block.head === (open as Content).head && block.kind === (open as Content).kind
    if (goesOn) text += `\n${block.text}`
    else {
      text += `${shut()}${text === '' ? '' : block.follows ? '\n' : '\n\n'}${block.head === '' ? '' : `${block.head}\n`}${block.text}`
    }
    open = block
  }
  return text + shut()
}
