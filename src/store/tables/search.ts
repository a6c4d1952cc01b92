// Full-text search, look by look: titles come first, newest first, then messages, newest first. Each database has its own index.

import type { SessionRecord } from '../../domain/session/session.ts'
import type { SearchHit, SearchPage, SearchQuery, SearchReads } from '../ports/search.ts'

/** Titles of agents elsewhere, and messages. Each kind is numbered for itself, newest last. */
export type Source = 't' | 'm'

/** Rows from this number on, up to but without that one. */
export interface Range {
  above: number
  below: number
}

/** A text that was found. `Id` is how the index names sessions. */
export interface Found<Id> {
  session: Id
  row: number
  isElsewhere: boolean
}

/** The index of a database. */
export interface FoundRows<Id> {
  /** False: it lacks texts that the store has. */
  isComplete(): Promise<boolean>
  /** The highest number that a row has. */
  last(source: Source): Promise<number>
  /** The range below this number with about so many rows. */
  rangeBelow(below: number, rows: number): Range
  /** At most `limit` rows that may match, newest first. `found` are those that do; `next` is the last that was looked at, null: all were. */
  look(
    query: SearchQuery,
    source: Source,
    range: Range,
    limit: number,
  ): Promise<{ found: Found<Id>[]; next: number | null }>
  /** Called after each look, whose time is measured: others get their turn. */
  turn(): Promise<void>
  /** Whether the session has a matching text with this number or a higher one. */
  has(query: SearchQuery, source: Source, session: Id, from: number): Promise<boolean>
  /**
   * The session and its title and newest messages that match; null: it is gone. `known` are the messages of it that the look has found,
   * newest first.
   */
  show(
    query: SearchQuery,
    session: Id,
    known: readonly number[],
  ): Promise<{ session: SessionRecord; hits: SearchHit[] } | null>
}

/** A look goes over more rows while looks are quick, and over fewer when they are not. */
interface Pace {
  quickMs: number
  longMs: number
  mostRows: number
}

const FIRST_ROWS = 2_048
const FEWEST_ROWS = 1_024
/** The most rows that one look finds. */
const MOST_FOUND = 500
/** The longest time that one search takes, but for its last look. A page ends there, and the next one goes on. */
const SEARCH_MS = 400

/** When the index is brought up to date, in both databases. */
export const indexing = {
  /** After a commit others usually follow, and one step takes them all. */
  soonMs: 1_000,
  /** Of the time, this part is for indexing: much that is new must not slow the server down. */
  share: 0.1,
  /** After an error, such as a full disk or a database that is away. */
  retryMs: 30_000,
  /** A search waits so long for the index at most. */
  catchUpMs: 300,
} as const

/** Rows below this one were not looked at yet. */
interface Place {
  source: Source
  below: number
}

export function createSearch<Id>(rows: FoundRows<Id>, pace: Pace, mono: () => number): SearchReads {
  async function search(query: SearchQuery, start: Place): Promise<Omit<SearchPage, 'isComplete'>> {
    const until = mono() + SEARCH_MS
    const seen = new Set<Id>()
    const found: SearchPage['found'] = []
    let next: string | null = null

    /** Whether an earlier page has shown it. Only agents elsewhere have titles, which come before messages. */
    const wasShown = async (source: Source, { session, isElsewhere }: Found<Id>): Promise<boolean> =>
      source === 'm' &&
      ((isElsewhere && (await rows.has(query, 't', session, 0))) ||
        (start.source === 'm' && (await rows.has(query, 'm', session, start.below))))

    for (const source of start.source === 't' ? (['t', 'm'] as const) : (['m'] as const)) {
      let below = Math.min(
        (await rows.last(source)) + 1,
        source === start.source ? start.below : Number.MAX_SAFE_INTEGER,
      )
      let size = FIRST_ROWS
      while (below > 1) {
        const begun = mono()
        const range = rows.rangeBelow(below, size)
        const look = await rows.look(query, source, range, MOST_FOUND)
        const took = mono() - begun
        await rows.turn()
        if (took < pace.quickMs) size = Math.min(pace.mostRows, size * 2)
        else if (took > pace.longMs) size = Math.max(FEWEST_ROWS, size / 2)
        for (const one of look.found) {
          if (seen.has(one.session)) continue
          seen.add(one.session)
          if (await wasShown(source, one)) continue
          if (found.length === query.limit) return { found, next }
          const known = source === 't' ? [] : look.found.filter(({ session }) => session === one.session)
          const shown = await rows.show(
            query,
            one.session,
            known.map(({ row }) => row),
          )
          if (shown !== null) found.push(shown)
          next = `${source}${one.row}`
          if (mono() > until) return { found, next }
        }
        below = look.next ?? range.above
        if (found.length < query.limit) next = `${source}${below}`
        if (mono() > until) return { found, next }
      }
    }
    return { found, next: null }
  }

  return {
    async find(query) {
      const isComplete = await rows.isComplete()
      const start = placeOf(query.before)
      if (start === null || query.terms.length === 0) return { found: [], next: null, isComplete }
      return { ...(await search(query, start)), isComplete }
    },
  }
}

function placeOf(before: string | undefined): Place | null {
  if (before === undefined) return { source: 't', below: Number.MAX_SAFE_INTEGER }
  const [, source, below] = /^([tm])(\d{1,15})$/.exec(before) ?? []
  return source === undefined ? null : { source: source === 't' ? 't' : 'm', below: Number(below) }
}
