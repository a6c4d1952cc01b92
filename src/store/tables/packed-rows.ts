// How every store packs the entries of a log into rows: consecutive entries, one per line.

import type { Entry } from '../../domain/session/entry.ts'
import type { NewEntry, StoredEntry, TextFrame } from '../ports/journal.ts'

/**
 * One line per entry. An event stays as it is (it begins with a brace); a fact gets an `f` in front. Text in
 * the frame of the last whole event is that text alone, with its quotes: a fast model's tokens take a tenth of the space. JSON never
 * contains a raw newline, so lines need no escaping.
 */
export function packLines(entries: readonly NewEntry[]): string {
  const [only] = entries
  // Nearly always one token.
  if (only !== undefined && entries.length === 1) return only.kind === 'event' ? only.data : `f${only.data}`
  const lines: string[] = []
  let last: TextFrame | undefined
  for (const { kind, data, frame, text } of entries) {
    if (kind === 'fact') {
      lines.push(`f${data}`)
    } else if (text !== undefined && frame === last) {
      lines.push(text)
    } else {
      lines.push(data)
      last = frame
    }
  }
  return lines.join('\n')
}

const NO_DELTA: readonly [start: string, end: string] = ['', '']
const DELTA = ',"delta":"'
const TIMESTAMP = '","timestamp":'

/** What stands before and after the text of an event's delta, with its quotes. Empty if the event has none, or does not end with its time. */
function aroundDelta(event: string): readonly [start: string, end: string] {
  const from = event.indexOf(DELTA) + DELTA.length
  const to = event.lastIndexOf(TIMESTAMP)
  return from < DELTA.length || to < from ? NO_DELTA : [event.slice(0, from), event.slice(to)]
}

/** Reads lines in order. */
function createUnpack(runId: string | null): (line: string, seq: number) => Entry {
  let whole = ''
  let around: readonly [start: string, end: string] | null = null
  return (line, seq) => {
    if (line.startsWith('f')) return { seq, runId, kind: 'fact', data: line.slice(1) }
    if (line.startsWith('"')) {
      around ??= aroundDelta(whole)
      return { seq, runId, kind: 'event', data: around[0] + line.slice(1, -1) + around[1] }
    }
    whole = line
    around = null
    return { seq, runId, kind: 'event', data: line }
  }
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
  const unpack = createUnpack(runId)
  if (layout === null) return lines.map((line, i) => unpack(line, firstSeq + i))
  const seqs: Layout = JSON.parse(layout)
  return lines.map((line, i) => {
    const at = seqs[i] ?? 0
    if (typeof at === 'number') return unpack(line, at)
    return { ...unpack(line, at[0]), spans: at[1] }
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
