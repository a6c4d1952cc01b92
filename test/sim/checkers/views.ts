// P4, P5, P6: what a reader saw is the stored log, without gap or double, byte for byte; across a compaction, each character
// once. Nothing was shown that is not stored, but text in flight that a power cut took; and then its id is never used again.

import type { Entry } from '../../../src/domain/session/entry.ts'
import { typeOfEventText } from '../../../src/domain/session/event.ts'
import type { Checker, Evidence, ReadEntry, SessionEvidence } from '../evidence.ts'
import type { ReaderRecord, SeenEntry, View } from '../history.ts'

export const views: Checker = {
  name: 'views',
  check: (evidence) => {
    const lostTexts = new Map<string, string>()
    return evidence.history.readers.flatMap((reader) => {
      const session = evidence.sessions.get(reader.sessionId)
      if (session === undefined) return [`${reader.name} read a session that is not stored`]
      const log = indexLog(session, reader.runId, evidence.history.compacted.has(session.id))
      return reader.views.flatMap((view, i) => {
        const isLast = i === reader.views.length - 1
        return [
          ...checkShown(evidence, reader, view, log, lostTexts),
          ...walk(reader, view, log, isLast),
          ...checkResumes(evidence, reader, view, log),
        ].map((problem) => `${reader.name}: ${problem}`)
      })
    })
  },
}

interface IndexedLog {
  bySeq: ReadonlyMap<number, ReadEntry>
  /** What this reader has to see. */
  relevant: readonly ReadEntry[]
  /** At some time; a power cut may have taken it back. */
  isCompacted: boolean
}

function indexLog({ log }: SessionEvidence, runId: string | null, isCompacted: boolean): IndexedLog {
  return {
    bySeq: new Map(log.map((entry) => [entry.seq, entry])),
    relevant: runId === null ? log : log.filter((entry) => entry.runId === runId && entry.kind === 'event'),
    isCompacted,
  }
}

function checkShown(
  { history }: Evidence,
  { sessionId }: ReaderRecord,
  view: View,
  { bySeq, isCompacted }: IndexedLog,
  lostTexts: Map<string, string>,
): string[] {
  const problems: string[] = []
  for (const seen of view.shown) {
    const entry = bySeq.get(seen.seq)
    if (entry?.data === seen.data && entry.runId === seen.runId) continue
    if (entry !== undefined) {
      const isPart = isCompacted && sameButDelta(entry, seen)
      if (!isPart) problems.push(`${seen.seq} was shown as ${seen.data} and is stored as ${entry.data}`)
      continue
    }
    const isLost = history.powerCuts.some(({ at, lost }) => at >= seen.readSince && lost.get(sessionId)?.has(seen.seq))
    if (!isLost) problems.push(`${seen.seq} was shown (${seen.data}) and is not stored`)
    else if (!isInFlight(seen)) problems.push(`${seen.seq} was shown (${seen.data}) before it was on disk, and lost`)
    const id = `${sessionId} ${seen.seq}`
    const before = lostTexts.get(id)
    if (before !== undefined && before !== seen.data)
      problems.push(`${seen.seq} was shown as ${before} and as ${seen.data}`)
    lostTexts.set(id, seen.data)
  }
  return problems
}

/** What is shown without waiting for the disk. */
function isInFlight({ kind, data }: Entry): boolean {
  if (kind === 'fact') return false
  const type = typeOfEventText(data)
  return type !== 'RUN_STARTED' && type !== 'RUN_FINISHED' && type !== 'RUN_ERROR' && type !== 'TOOL_CALL_RESULT'
}

/** Goes through what the reader kept, in order, and through what the log has at the same time. */
function walk(
  reader: ReaderRecord,
  view: View,
  { bySeq, relevant, isCompacted }: IndexedLog,
  isLast: boolean,
): string[] {
  const problems: string[] = []
  // Deltas that were passed over: compaction moved them into a later event, which has to bring them.
  const skipped = new Map<string, ReadEntry[]>()
  let at = 0
  let last = 0

  function pass(until: number): void {
    for (let entry = relevant[at]; entry !== undefined && entry.seq < until; entry = relevant[at]) {
      at += 1
      const name = deltaName(entry)
      if (name === null || !isCompacted) problems.push(`${entry.seq} (${entry.data}) is missing`)
      else skipped.set(name, [...(skipped.get(name) ?? []), entry])
    }
  }

  for (const seen of view.entries) {
    if (seen.seq <= last) problems.push(`${seen.seq} came after ${last}`)
    last = seen.seq
    const entry = bySeq.get(seen.seq)
    if (entry === undefined) continue
    pass(seen.seq)
    if (relevant[at]?.seq === seen.seq) at += 1
    const name = deltaName(entry)
    if (name === null) continue
    const missed = skipped.get(name)
    if (missed === undefined && seen.data === entry.data) continue
    const wanted = [...(missed ?? []), entry].map(({ data }) => deltaIn(data)).join('')
    const brought = deltaIn(seen.data)
    if (brought !== wanted) {
      problems.push(`${seen.seq} brought ${JSON.stringify(brought)} where ${JSON.stringify(wanted)} was due`)
    }
    skipped.delete(name)
  }
  const isComplete = isLast && (reader.end === 'saw the end' || (reader.runId === null && reader.end === null))
  if (isComplete) {
    pass(Number.POSITIVE_INFINITY)
    for (const entries of skipped.values())
      for (const { seq, data } of entries) problems.push(`${seq} (${data}) never came`)
  }
  return problems
}

function checkResumes(
  { history }: Evidence,
  { sessionId }: ReaderRecord,
  { resumes }: View,
  { bySeq }: IndexedLog,
): string[] {
  return resumes.flatMap(({ after, at, answer }) => {
    // A seq that was lost before anybody saw it may be given out again.
    if (answer === 'served' && bySeq.has(after)) return []
    const cuts = history.powerCuts.filter(({ lost }) => lost.get(sessionId)?.has(after))
    if (answer === 'gone' && cuts.length === 0) return [`${after} was said to be gone and is in the log`]
    if (answer === 'served' && cuts.some((cut) => cut.at < at)) return [`it went on after ${after}, which was lost`]
    return []
  })
}

/** Names the text that a delta belongs to; null when it is none. */
function deltaName(entry: ReadEntry): string | null {
  if (entry.kind === 'fact') return null
  const { event } = entry
  switch (event.type) {
    case 'TEXT_MESSAGE_CONTENT':
    case 'REASONING_MESSAGE_CONTENT':
      return `${event.type} ${event.messageId}`
    case 'TOOL_CALL_ARGS':
      return `${event.type} ${event.toolCallId}`
    default:
      return null
  }
}

function deltaIn(data: string): string {
  const event: unknown = JSON.parse(data)
  const delta = typeof event === 'object' && event !== null && 'delta' in event ? event.delta : null
  return typeof delta === 'string' ? delta : ''
}

function sameButDelta(entry: ReadEntry, seen: SeenEntry): boolean {
  if (deltaName(entry) === null) return false
  const blank = (data: string) => JSON.stringify({ ...JSON.parse(data), delta: '' })
  return entry.runId === seen.runId && blank(entry.data) === blank(seen.data)
}
