// Compaction: the deltas of one message become one event, so that the log of an idle session does not grow with the
// tokenisation; and how a reader that resumes across it still sees each character once. Pure.

import type { Entry } from '../domain/entry.ts'
import { type RunEventType, typeOfEventText } from '../domain/event.ts'
import type { StoredEntry } from '../store/ports/entry.ts'

/** The events that carry a piece of a streamed text, and the field that names the text. */
const deltas: Partial<Record<RunEventType, 'messageId' | 'toolCallId'>> = {
  TEXT_MESSAGE_CONTENT: 'messageId',
  REASONING_MESSAGE_CONTENT: 'messageId',
  TOOL_CALL_ARGS: 'toolCallId',
}

/**
 * The same log with one delta event where a message, a reasoning or a call's arguments came in several. It takes the place
 * of the last of them and remembers in `spans` where each was. Everything else is untouched. Only deltas with nothing in
 * between are joined: whatever entry a reader comes back behind, before or after the compaction, it has then seen all of
 * the text up to there. Give it entries of runs that have ended, in order.
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

/** Each delta entry with those that it is joined with, in order. */
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
    const own = JSON.stringify([entry.runId, type, fieldOf(event, field)])
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
  // The keys keep their places: `type` is read from the text without parsing it.
  return { seq, runId, kind, data: JSON.stringify({ ...last.event, delta }), spans }
}

/** What a reader that has seen everything up to `after` still has to see of this entry; null when nothing is left. */
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
 * Turns pages of a log into what one reader has to see of them, each character once. The reader began behind `after`. Pages
 * follow each other, all that it is shown goes through here, and the session may be compacted between any two of them.
 */
export function createCompactedReader(after: number): (page: readonly StoredEntry[]) => readonly Entry[] {
  let seen = after
  return (page) => {
    const from = seen
    seen = page.at(-1)?.seq ?? seen
    if (page.every((entry) => entry.spans === undefined)) return page
    return page.map((entry) => sliceCompacted(entry, from)).filter((entry) => entry !== null)
  }
}

const hasDelta = (event: unknown): event is { delta: string } =>
  typeof event === 'object' && event !== null && 'delta' in event && typeof event.delta === 'string'

function fieldOf(event: unknown, name: 'messageId' | 'toolCallId'): unknown {
  return typeof event === 'object' && event !== null ? Reflect.get(event, name) : undefined
}
