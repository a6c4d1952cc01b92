// The rows of a diff as they are shown: one line below the other, or the old file beside the new one.

import type { SeenPart } from '../seen/seen.ts'
import { type Piece, piecesOf } from '../seen/text-pieces.ts'
import type { DiffEntry, DiffFile, DiffLine } from './parse-diff.ts'

export interface Half extends Piece {
  line: DiffLine
  /** The line on the other side that it was changed from or into. */
  partner: DiffLine | null
  /** Names its entry among those of the file. */
  at: number | string
}

/** Lines that the diff does not have. */
export interface Gap {
  /** Their number. Null: nobody knows yet. */
  left: number | null
  /** The first of them, in the new file. */
  newFrom: number
}

/** What of a gap was read from the file: its first and its last lines. */
export interface Between {
  first: readonly string[]
  last: readonly string[]
  totalLines: number
}

export type DiffRow = {
  key: string
  /** Index of its file. */
  file: number
  /** Keys of the parts that are shown with it. */
  covers: readonly string[]
} & (
  | { type: 'file' }
  | { type: 'gap'; gap: Gap; text: string }
  | { type: 'comment'; place: string; line: DiffLine }
  | { type: 'fold'; count: number }
  | { type: 'note'; text: string }
  | { type: 'line'; half: Half }
  | { type: 'pair'; left: Half | null; right: Half | null }
)

export interface DiffLook {
  isSplit: boolean
  /** Keys of the folded stretches that were opened. */
  opened: ReadonlySet<string>
  /** Indexes of the files that are closed because somebody has looked at them. */
  closed: ReadonlySet<number>
  /** By the key of the gap. */
  between: ReadonlyMap<string, Between>
  /** Places with a comment. */
  comments: ReadonlySet<string>
}

export const sideOf = ({ type }: DiffLine): 'old' | 'new' => (type === 'remove' ? 'old' : 'new')
export const numberOf = (line: DiffLine): number => line[`${sideOf(line)}Number`] ?? 0
/** As a comment on it calls it. */
export const lineName = (line: DiffLine): string => `${line.type === 'remove' ? 'removed ' : ''}line ${numberOf(line)}`
/** Where a comment stands. */
export const placeOf = (file: number, line: DiffLine): string => `${file}.${sideOf(line)}.${numberOf(line)}`

/** Unchanged lines that stay before and after a change. */
const AROUND = 3
/** Fewer are not worth a press. */
const FEWEST_FOLDED = 6

type Block =
  | { type: 'entry'; entry: Exclude<DiffEntry, DiffLine>; at: number }
  | { type: 'same'; lines: DiffLine[]; at: number }
  | { type: 'change'; removed: DiffLine[]; added: DiffLine[]; at: number }

export function diffRows(files: readonly DiffFile[], look: DiffLook) {
  const rows: DiffRow[] = []
  /** Indexes of the rows where a change begins. */
  const changes: number[] = []
  const add = (made: readonly DiffRow[]) => {
    for (const row of made) {
      rows.push(row)
      if (look.comments.size > 0) rows.push(...commentRows(row, look.comments))
    }
  }
  files.forEach((file, index) => {
    const fileKey = `${index}`
    rows.push({ type: 'file', key: fileKey, file: index, covers: [fileKey] })
    if (look.closed.has(index)) return
    const blocks = blocksOf(file.entries)
    blocks.forEach((block, i) => {
      if (block.type === 'entry') add(entryRows(block, index, look))
      else if (block.type === 'same') {
        const isEdge = { first: blocks[i - 1]?.type !== 'change', last: blocks[i + 1]?.type !== 'change' }
        add(sameRows(block, isEdge, index, look))
      } else {
        changes.push(rows.length)
        add(changeRows(block, index, look.isSplit))
      }
    })
  })
  return { rows, changes }
}

/** What has to be on the screen: every line that changes, every note, and at least the name of the file. */
export function diffParts(files: readonly DiffFile[]): SeenPart[] {
  return files.flatMap(({ entries }, index) => {
    const parts = entries.flatMap((entry, at) => {
      if (entry.type === 'same' || entry.type === 'stretch') return []
      return piecesOf(entry.text).map(({ from, to }, piece) => ({
        key: keyOf(index, at, piece),
        size: to - from,
        isEnd: false,
      }))
    })
    const all = [{ key: `${index}`, size: 0, isEnd: false }, ...parts]
    return all.map((part, i) => ({ ...part, isEnd: i === all.length - 1 }))
  })
}

const keyOf = (file: number, entry: number | string, piece: number): string => `${file}.${entry}.${piece}`

/** Removed lines and the added lines right after them belong together. */
function blocksOf(entries: readonly DiffEntry[]): Block[] {
  const blocks: Block[] = []
  entries.forEach((entry, at) => {
    const last = blocks.at(-1)
    if (entry.type === 'stretch' || entry.type === 'note') blocks.push({ type: 'entry', entry, at })
    else if (entry.type === 'same') {
      if (last?.type === 'same') last.lines.push(entry)
      else blocks.push({ type: 'same', lines: [entry], at })
    } else if (entry.type === 'remove') {
      if (last?.type === 'change' && last.added.length === 0) last.removed.push(entry)
      else blocks.push({ type: 'change', removed: [entry], added: [], at })
    } else if (last?.type === 'change') last.added.push(entry)
    else blocks.push({ type: 'change', removed: [], added: [entry], at })
  })
  return blocks
}

/** The old one before the new one. Rows that are no lines have none. */
export const halvesOf = (row: DiffRow): Half[] =>
  (row.type === 'line' ? [row.half] : row.type === 'pair' ? [row.left, row.right] : []).filter((half) => half !== null)

/** Below the last piece of their line. */
function commentRows(row: DiffRow, comments: ReadonlySet<string>): DiffRow[] {
  const ended = halvesOf(row).filter(({ line, to }) => to === line.text.length)
  const found = new Map(ended.map(({ line }) => [placeOf(row.file, line), line]))
  return [...found].flatMap(([place, line]): DiffRow[] =>
    comments.has(place) ? [{ type: 'comment', key: `${place}.comment`, file: row.file, covers: [], place, line }] : [],
  )
}

function entryRows({ entry, at }: Extract<Block, { type: 'entry' }>, file: number, look: DiffLook): DiffRow[] {
  if (entry.type === 'stretch') return stretchRows(entry, at, file, look)
  return piecesOf(entry.text).map(({ from, to }, piece) => {
    const key = keyOf(file, at, piece)
    return { type: 'note', key, file, covers: [key], text: entry.text.slice(from, to) }
  })
}

function stretchRows(
  { skipped, oldFrom, newFrom, text }: Extract<DiffEntry, { type: 'stretch' }>,
  at: number,
  file: number,
  { between, isSplit }: DiffLook,
): DiffRow[] {
  const key = `${file}.${at}.gap`
  const known = between.get(key)
  const { first, last } = known ?? { first: [], last: [] }
  const all = skipped ?? (known === undefined ? null : known.totalLines - newFrom + 1)
  const left = all === null ? null : all - first.length - last.length
  const rowsFrom = (start: number, texts: readonly string[]): DiffRow[] =>
    texts.flatMap((line, i) => {
      const numbers = { oldNumber: oldFrom + start + i, newNumber: newFrom + start + i }
      return lineRows({ type: 'same', text: line, ...numbers }, `${at}+${start + i}`, file, isSplit)
    })
  const gap: DiffRow = {
    ...{ type: 'gap', key, file, covers: [], text },
    gap: { left, newFrom: newFrom + first.length },
  }
  const isOpened = left === 0 && known !== undefined
  return [...rowsFrom(0, first), ...(isOpened ? [] : [gap]), ...rowsFrom((all ?? 0) - last.length, last)]
}

function sameRows(
  { lines, at }: Extract<Block, { type: 'same' }>,
  isEdge: { first: boolean; last: boolean },
  file: number,
  { isSplit, opened }: DiffLook,
): DiffRow[] {
  const rowsOf = (from: number, to: number): DiffRow[] =>
    lines.slice(from, to).flatMap((line, i) => lineRows(line, at + from + i, file, isSplit))
  const foldKey = `${file}.${at}.fold`
  const [from, to] = [isEdge.first ? 0 : AROUND, lines.length - (isEdge.last ? 0 : AROUND)]
  if (to - from < FEWEST_FOLDED || opened.has(foldKey)) return rowsOf(0, lines.length)
  const fold: DiffRow = { type: 'fold', key: foldKey, file, covers: [], count: to - from }
  return [...rowsOf(0, from), fold, ...rowsOf(to, lines.length)]
}

function changeRows(
  { removed, added, at }: Extract<Block, { type: 'change' }>,
  file: number,
  isSplit: boolean,
): DiffRow[] {
  const gone = removed.map((line, i) => ({ line, partner: added[i] ?? null, at: at + i }))
  const come = added.map((line, i) => ({ line, partner: removed[i] ?? null, at: at + removed.length + i }))
  if (!isSplit) return [...gone, ...come].flatMap((half) => pieceRows(half, null, file, false))
  return Array.from({ length: Math.max(gone.length, come.length) }, (_, i) =>
    pieceRows(gone[i] ?? null, come[i] ?? null, file, true),
  ).flat()
}

/** A line that is the same on both sides. */
function lineRows(line: DiffLine, at: number | string, file: number, isSplit: boolean): DiffRow[] {
  const half = { line, partner: null, at }
  return pieceRows(half, isSplit ? half : null, file, isSplit)
}

type WholeHalf = Omit<Half, keyof Piece>

/** A long line is several rows. */
function pieceRows(left: WholeHalf | null, right: WholeHalf | null, file: number, isSplit: boolean): DiffRow[] {
  const cut = (whole: WholeHalf | null) =>
    whole === null
      ? []
      : piecesOf(whole.line.text).map((piece, i) => ({ key: keyOf(file, whole.at, i), half: { ...whole, ...piece } }))
  const [lefts, rights] = [cut(left), cut(right)]
  return Array.from({ length: Math.max(lefts.length, rights.length) }, (_, i): DiffRow => {
    const [from, to] = [lefts[i], rights[i]]
    const covers = [from, to].flatMap((piece) => piece?.key ?? [])
    if (!isSplit && from !== undefined) return { type: 'line', key: from.key, file, covers, half: from.half }
    return { type: 'pair', key: covers.join('+'), file, covers, left: from?.half ?? null, right: to?.half ?? null }
  })
}

/** The row to go to: the first change after the row that one is at, or the last one before it. Null: there is none. */
export function nextChange(changes: readonly number[], at: number, step: 1 | -1): number | null {
  const found = step === 1 ? changes.find((index) => index > at) : changes.findLast((index) => index < at)
  return found ?? null
}
