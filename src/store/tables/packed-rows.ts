// How every store packs the entries of a log into rows: consecutive entries, one per line.

import type { Entry, EntryKind } from '../../domain/session/entry.ts'
import type { NewEntry, StoredEntry } from '../ports/journal.ts'

/**
 * One line per entry. An event stays as it is; a fact gets an `f` in front (an event begins with a brace). JSON never contains a
 * raw newline, so lines need no escaping.
 */
export function packLines(entries: readonly NewEntry[]): string {
  const [first] = entries
  if (first === undefined) return ''
  // Nearly always one token.
  return entries.length === 1 ? packLine(first) : entries.map(packLine).join('\n')
}

const packLine = ({ kind, data }: NewEntry): string => (kind === 'event' ? data : `f${data}`)

function unpackLine(line: string, seq: number, runId: string | null): Entry {
  const kind: EntryKind = line.startsWith('f') ? 'fact' : 'event'
  return { seq, runId, kind, data: kind === 'fact' ? line.slice(1) : line }
}

type Layout = (number | [number, [number, number][]])[]

function packLayout(entries: readonly StoredEntry[]): string {
  const layout: Layout = entries.map((entry) =>
    entry.spans === undefined ? entry.seq : [entry.seq, entry.spans.map(([seq, length]) => [seq, length])],
  )
  return JSON.stringify(layout)
}

/** The entries of one packed row. */
export function unpackRow(firstSeq: number, runId: string | null, data: string, layout: string | null): StoredEntry[] {
  const lines = data.split('\n')
  if (layout === null) return lines.map((line, i) => unpackLine(line, firstSeq + i, runId))
  const seqs: Layout = JSON.parse(layout)
  return lines.map((line, i) => {
    const at = seqs[i] ?? 0
    if (typeof at === 'number') return unpackLine(line, at, runId)
    return { ...unpackLine(line, at[0], runId), spans: at[1] }
  })
}

export type EntryRow = [firstSeq: number, runId: string | null, data: string, layout: string | null, lastSeq: number]

export const toEntries = ([firstSeq, runId, data, layout]: EntryRow): StoredEntry[] =>
  unpackRow(firstSeq, runId, data, layout)

/** Collects entries until there are `limit` of them, or `maxChars` characters. It takes the one with which there are enough. */
export function createCollector(limit: number, maxChars: number) {
  const found: StoredEntry[] = []
  let chars = 0
  return {
    found,
    isEnough: (): boolean => found.length >= limit || chars >= maxChars,
    take(entry: StoredEntry): void {
      found.push(entry)
      chars += entry.data.length
    },
    /** How much may still be taken. */
    left: () => ({ entries: limit - found.length, chars: maxChars - chars }),
  }
}

/** A row of a log that was written as a whole, so its seqs need not be consecutive. */
export interface PackedRow {
  firstSeq: number
  lastSeq: number
  runId: string | null
  data: string
  layout: string
}

const ROW_CHARS = 65_536

/** The rows of a whole log, for imports and compaction. Each is made when it is asked for. */
export function* packRows(entries: readonly StoredEntry[]): Generator<PackedRow> {
  let from = 0
  while (from < entries.length) {
    const first = entries[from]
    if (first === undefined) break
    let to = from
    let size = 0
    while (to < entries.length && entries[to]?.runId === first.runId && size < ROW_CHARS) {
      size += entries[to]?.data.length ?? 0
      to += 1
    }
    const packed = entries.slice(from, to)
    const lastSeq = packed.at(-1)?.seq ?? first.seq
    yield {
      firstSeq: first.seq,
      lastSeq,
      runId: first.runId,
      data: packLines(packed),
      layout: packLayout(packed),
    }
    from = to
  }
}

/** The seqs of the entries that these replace: their own, and those that their spans name. */
export function replacedSeqs(entries: readonly StoredEntry[]): {
  seqs: ReadonlySet<number>
  first: number
  last: number
} {
  const seqs = new Set<number>()
  let first = Number.MAX_SAFE_INTEGER
  for (const { seq, spans = [] } of entries) {
    for (const one of [seq, ...spans.map(([spanned]) => spanned)]) {
      seqs.add(one)
      first = Math.min(first, one)
    }
  }
  return { seqs, first, last: entries.at(-1)?.seq ?? 0 }
}

/** A part of a log in which new entries, in order, take the place of those that have these seqs. */
export const replaceEntries = (
  log: readonly StoredEntry[],
  entries: readonly StoredEntry[],
  replaced: ReadonlySet<number>,
): StoredEntry[] => [...log.filter(({ seq }) => !replaced.has(seq)), ...entries].sort((a, b) => a.seq - b.seq)
