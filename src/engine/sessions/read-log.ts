// Pages of a session's events, from any place and in both directions, for readers that do not follow it live.

import type { Clock } from '../../domain/clock.ts'
import type { Entry } from '../../domain/session/entry.ts'
import { type RunEventType, typeOfEventText } from '../../domain/session/event.ts'
import { sliceCompacted } from '../../log/compact.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { Store } from '../../store/store.ts'

export interface LogQuery {
  /** Events after this seq, or before it. */
  from: { after: number } | { before: number }
  limit: number
  /** The page ends once it has this many characters. It has at least one event, unless there is none. */
  maxChars: number
  /** Leaves out the pieces of texts and arguments. */
  structure: boolean
}

export interface LogPage {
  /** In the order of the log. */
  events: Entry[]
  /** `after` or `before` of the next page; null: this was the last one. */
  next: number | null
  /** Seq of the first and the last entry of the whole log, 0 if it has none. */
  firstSeq: number
  lastSeq: number
  /** The page has fewer events than asked for, because they are large. */
  isCut: boolean
}

export type ReadLog = (sessionId: string, query: LogQuery) => Promise<LogPage>

interface ReadLogDeps {
  store: Pick<Store, 'entries' | 'entriesBefore' | 'head'>
  log: Pick<SessionLog, 'synced'>
  clock: Pick<Clock, 'soon'>
}

const READ_ENTRIES = 512
const READ_CHARS = 256 * 1024
/** A page looks at no more of the log than this. The next page goes on there. */
const MOST_CHARS = 8 * 1024 * 1024

const PIECES: ReadonlySet<RunEventType> = new Set<RunEventType>([
  'TEXT_MESSAGE_CONTENT',
  'REASONING_MESSAGE_CONTENT',
  'TOOL_CALL_ARGS',
])

export function createReadLog({ store, log, clock }: ReadLogDeps): ReadLog {
  const nextTurn = () => new Promise<void>((resolve) => clock.soon(resolve))

  return async (sessionId, { from, limit, maxChars, structure }) => {
    const lastSeq = await store.head(sessionId)
    // What is not on disk yet must not be shown. What comes after this is for the next page.
    await log.synced(sessionId)
    const [first] = await store.entries(sessionId, 0, 1, 1)
    const ends = { firstSeq: first?.seq ?? 0, lastSeq }
    const isForwards = 'after' in from
    let at = isForwards ? from.after : Math.min(from.before, lastSeq + 1)
    const events: Entry[] = []
    let chars = 0
    let lookedAt = 0
    const page = (next: number | null, isCut = false): LogPage => ({
      events: isForwards ? events : events.reverse(),
      next,
      ...ends,
      isCut,
    })

    for (;;) {
      const entries = isForwards
        ? await store.entries(sessionId, at, READ_ENTRIES, READ_CHARS)
        : await store.entriesBefore(sessionId, at, READ_ENTRIES, READ_CHARS)
      for (const entry of entries) {
        if (entry.seq > lastSeq) return page(null)
        at = entry.seq
        lookedAt += entry.data.length
        const isShown = entry.kind === 'event' && !(structure && PIECES.has(typeOfEventText(entry.data)))
        const event = isShown ? sliceCompacted(entry, isForwards ? from.after : 0) : null
        if (event === null) continue
        events.push(event)
        chars += event.data.length
        const isCut = chars >= maxChars && events.length < limit
        if (isCut || events.length === limit) {
          const isLast = isForwards ? at >= lastSeq : at <= ends.firstSeq
          return page(isLast ? null : at, isCut && !isLast)
        }
      }
      if (entries.length === 0) return page(null)
      if (lookedAt >= MOST_CHARS) return page(at)
      await nextTurn()
    }
  }
}
