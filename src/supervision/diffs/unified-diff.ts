// The unified diff of two texts. The library needs time that grows with the square of the number of changed lines: minutes for 10,000.
// So lines that occur once on both sides split the texts first, and the library compares the small pieces in between.

import { diffArrays } from 'diff'

export interface UnifiedDiff {
  /** The `@@` parts, without file headers. Empty if the texts are equal. */
  hunks: string
  addedLines: number
  removedLines: number
  /** The lines that only the new text has. */
  added: string[]
  /** Whether lines may be shown as replaced although they are the same, because the texts are too large or too different. */
  isRough: boolean
}

/** Lines `from` to `to` of the old text become the lines `newFrom` to `newTo` of the new one. */
interface Block {
  from: number
  to: number
  newFrom: number
  newTo: number
}

const CONTEXT = 3
/** Beyond this, only what is the same at both ends is taken out: hashing millions of lines takes too much time and memory. */
const MAX_LINES = 400_000
/** How often a piece is split again. Real files need two or three. */
const MAX_DEPTH = 16
const MAX_EDITS = 200
/** Lines that the library may compare for one diff. */
const MAX_COMPARED = 40_000

/** The lines of a text, each with its line break. Only the last may have none. */
export const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

export function unifiedDiff(before: string, after: string): UnifiedDiff {
  const [old, now] = [linesOf(before), linesOf(after)]
  const comparison = compare(old, now)
  const { blocks, isRough } = comparison
  const added = blocks.flatMap(({ newFrom, newTo }) => now.slice(newFrom, newTo))
  const removedLines = blocks.reduce((sum, { from, to }) => sum + to - from, 0)
  const hunks = grouped(blocks).map((group) => hunkText(group, old, now))
  return { hunks: hunks.join(''), addedLines: added.length, removedLines, added, isRough }
}

function compare(old: readonly string[], now: readonly string[]): { blocks: Block[]; isRough: boolean } {
  const blocks: Block[] = []
  let left = MAX_COMPARED
  let isRough = false
  const add = (block: Block): void => {
    const last = blocks.at(-1)
    if (last !== undefined && last.to === block.from && last.newTo === block.newFrom) {
      last.to = block.to
      last.newTo = block.newTo
    } else blocks.push({ ...block })
  }
  const visit = (whole: Block, depth: number): void => {
    const block = trimmed(whole, old, now)
    const [removed, put] = [block.to - block.from, block.newTo - block.newFrom]
    if (removed === 0 && put === 0) return
    if (removed === 0 || put === 0) {
      add(block)
      return
    }
    const isLarge = old.length + now.length > MAX_LINES
    const anchors = isLarge || depth === MAX_DEPTH ? [] : anchorsOf(block, old, now)
    if (anchors.length > 0) {
      for (const piece of pieces(block, anchors)) visit(piece, depth + 1)
      return
    }
    left -= removed + put
    const inner = isLarge || left < 0 ? null : compareSmall(block, old, now)
    if (inner === null && hasCommonLine(block, old, now)) isRough = true
    for (const one of inner ?? [block]) add(one)
  }
  visit({ from: 0, to: old.length, newFrom: 0, newTo: now.length }, 0)
  return { blocks, isRough }
}

/** Without the lines that are the same at both ends. */
function trimmed(block: Block, old: readonly string[], now: readonly string[]): Block {
  let { from, to, newFrom, newTo } = block
  while (from < to && newFrom < newTo && old[from] === now[newFrom]) {
    from += 1
    newFrom += 1
  }
  while (from < to && newFrom < newTo && old[to - 1] === now[newTo - 1]) {
    to -= 1
    newTo -= 1
  }
  return { from, to, newFrom, newTo }
}

interface Anchor {
  at: number
  newAt: number
}

/** The longest row of lines that occur once on both sides, in the same order. */
function anchorsOf({ from, to, newFrom, newTo }: Block, old: readonly string[], now: readonly string[]): Anchor[] {
  const places = uniquePlaces(now, newFrom, newTo)
  const common: Anchor[] = []
  for (const [line, at] of uniquePlaces(old, from, to)) {
    const newAt = places.get(line) ?? -1
    if (at >= 0 && newAt >= 0) common.push({ at, newAt })
  }
  return longestRising(common.sort((a, b) => a.at - b.at))
}

/** Where each line is; -1 if it occurs more than once. */
function uniquePlaces(lines: readonly string[], from: number, to: number): Map<string, number> {
  const places = new Map<string, number>()
  for (let i = from; i < to; i += 1) {
    const line = lines[i] ?? ''
    places.set(line, places.has(line) ? -1 : i)
  }
  return places
}

function longestRising(anchors: readonly Anchor[]): Anchor[] {
  /** The end of the best row of each length, and for each anchor the one before it. */
  const ends: number[] = []
  const previous: number[] = []
  const newAt = (i: number | undefined): number => anchors[i ?? -1]?.newAt ?? -1
  for (let i = 0; i < anchors.length; i += 1) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (newAt(ends[middle]) < newAt(i)) low = middle + 1
      else high = middle
    }
    previous[i] = ends[low - 1] ?? -1
    ends[low] = i
  }
  const row: Anchor[] = []
  for (let i = ends.at(-1) ?? -1; i >= 0; i = previous[i] ?? -1) {
    const anchor = anchors[i]
    if (anchor !== undefined) row.push(anchor)
  }
  return row.reverse()
}

/** What lies between the anchors. */
function pieces({ from, to, newFrom, newTo }: Block, anchors: readonly Anchor[]): Block[] {
  let [start, newStart] = [from, newFrom]
  const found: Block[] = []
  for (const { at, newAt } of [...anchors, { at: to, newAt: newTo }]) {
    found.push({ from: start, to: at, newFrom: newStart, newTo: newAt })
    start = at + 1
    newStart = newAt + 1
  }
  return found
}

/** Null if the piece is too different to compare it within the limits. */
function compareSmall(
  { from, to, newFrom, newTo }: Block,
  old: readonly string[],
  now: readonly string[],
): Block[] | null {
  const changes = diffArrays(old.slice(from, to), now.slice(newFrom, newTo), { maxEditLength: MAX_EDITS })
  if (changes === undefined) return null
  let [at, newAt] = [from, newFrom]
  return changes.flatMap(({ added, removed, count }) => {
    const block = { from: at, to: added ? at : at + count, newFrom: newAt, newTo: removed ? newAt : newAt + count }
    at = block.to
    newAt = block.newTo
    return added || removed ? [block] : []
  })
}

function hasCommonLine({ from, to, newFrom, newTo }: Block, old: readonly string[], now: readonly string[]): boolean {
  const lines = new Set(now.slice(newFrom, newTo))
  return old.slice(from, to).some((line) => lines.has(line))
}

/** Blocks whose context would touch are one hunk. */
function grouped(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = []
  for (const block of blocks) {
    const last = groups.at(-1)?.at(-1)
    if (last !== undefined && block.from - last.to <= 2 * CONTEXT) groups.at(-1)?.push(block)
    else groups.push([block])
  }
  return groups
}

function hunkText(blocks: readonly Block[], old: readonly string[], now: readonly string[]): string {
  const [first, last] = [blocks[0], blocks.at(-1)]
  if (first === undefined || last === undefined) return ''
  const before = Math.min(CONTEXT, first.from)
  const after = Math.min(CONTEXT, old.length - last.to)
  const lines: string[] = []
  const put = (operation: string, from: readonly string[], start: number, end: number): void => {
    for (let i = start; i < end; i += 1) {
      const line = from[i] ?? ''
      lines.push(operation, line, line.endsWith('\n') ? '' : '\n\\ No newline at end of file\n')
    }
  }
  let at = first.from - before
  for (const { from, to, newFrom, newTo } of blocks) {
    put(' ', old, at, from)
    put('-', old, from, to)
    put('+', now, newFrom, newTo)
    at = to
  }
  put(' ', old, at, last.to + after)
  const oldRange = rangeOf(first.from - before, last.to + after)
  const newRange = rangeOf(first.newFrom - before, last.newTo + after)
  return `@@ -${oldRange} +${newRange} @@\n${lines.join('')}`
}

/** An empty range names the line before it. */
function rangeOf(from: number, to: number): string {
  const length = to - from
  if (length === 1) return `${from + 1}`
  return length === 0 ? `${from},0` : `${from + 1},${length}`
}
