// Compaction joins the deltas of a message into one event, so that the log of an idle session does not keep an entry for every
// token. A reader that resumes in the middle of such an event still sees each character once.

import { isRecord } from '../domain/is-record.ts'
import type { Entry } from '../domain/session/entry.ts'
import { type RunEventType, typeOfEventText } from '../domain/session/event.ts'
import type { StoredEntry } from '../store/ports/journal.ts'

/** The events that carry a piece of a streamed text, and the field that names the text. */
const deltas: Partial<Record<RunEventType, 'messageId' | 'toolCallId'>> = {
  TEXT_MESSAGE_CONTENT: 'messageId',
  REASONING_MESSAGE_CONTENT: 'messageId',
  TOOL_CALL_ARGS: 'toolCallId',
}

/**
 * The same log with one event in place of several deltas of a message, a reasoning or the arguments of a call. The event takes
 * the place of the last delta, and its `spans` say where each one was. Everything else stays as it is. Only deltas with nothing
 * between them are joined, so that a reader who has seen everything up to some entry has seen all of the text up to there,
 * before and after the compaction. The entries must be in order, and of runs that have ended.
 */
export function compactEntries(entries: readonly StoredEntry[]): StoredEntry[] {
  const groups = groupDeltas(entries)
  return entries.flatMap((entry) => {
    const group = groups.get(entry)
    if (group === undefined || group.length === 1) return [entry]
    return entry === group.at(-1)?.entry ? [merge(group)] : []
  })
}

interface Delta {
  entry: StoredEntry
  event: { delta: string }
}

/** For each delta entry, the group that it is joined into, in order. */
function groupDeltas(entries: readonly StoredEntry[]): Map<StoredEntry, Delta[]> {
  const groups = new Map<StoredEntry, Delta[]>()
  let name: string | null = null
  let group: Delta[] = []
  for (const entry of entries) {
    const type = entry.kind === 'event' ? typeOfEventText(entry.data) : null
    const field = type === null ? undefined : deltas[type]
    const event: unknown = field === undefined ? null : JSON.parse(entry.data)
    if (field === undefined || !hasDelta(event)) {
      name = null
      continue
    }
    const own = JSON.stringify([entry.runId, type, event[field]])
    if (own !== name) group = []
    name = own
    group.push({ entry, event })
    groups.set(entry, group)
  }
  return groups
}

function merge(group: readonly Delta[]): StoredEntry {
  const last = group[group.length - 1]
  if (last === undefined) throw new Error('a group of deltas has at least one')
  const { seq, runId, kind } = last.entry
  const delta = group.map(({ event }) => event.delta).join('')
  const spans = group.flatMap(({ entry, event }) => entry.spans ?? [[entry.seq, event.delta.length] as const])
  // The keys keep their order, because `type` is read from the text without parsing it.
  return { seq, runId, kind, data: JSON.stringify({ ...last.event, delta }), spans }
}

/** The part of this entry that a reader has not seen who has seen everything up to `after`; null when nothing is left. */
export function sliceCompacted(entry: StoredEntry, after: number): Entry | null {
  if (entry.seq <= after) return null
  const { spans, ...plain } = entry
  if (spans === undefined) return entry
  const seen = spans.reduce((sum, [seq, length]) => (seq <= after ? sum + length : sum), 0)
  if (seen === 0) return plain
  const event: unknown = JSON.parse(entry.data)
  if (!hasDelta(event)) return plain
  const delta = event.delta.slice(seen)
  return delta === '' ? null : { ...plain, data: JSON.stringify({ ...event, delta }) }
}

/**
 * For one reader that begins after `after`: turns each page of the log into what the reader has not seen yet. Everything that the
 * reader is shown must go through here, page after page. The session may be compacted between any two pages.
 */
export function createCompactedReader(after: number): (page: readonly StoredEntry[]) => readonly Entry[] {
  let seen = after
  return (page) => {
    const from = seen
    seen = page.at(-1)?.seq ?? seen
    if (page.every(isWhole)) return page
    return page.map((entry) => sliceCompacted(entry, from)).filter((entry) => entry !== null)
  }
}

const isWhole = ({ spans }: StoredEntry): boolean => spans === undefined

const hasDelta = (event: unknown): event is Record<string, unknown> & { delta: string } =>
  isRecord(event) && typeof event.delta === 'string'
