import type { Clock } from '../../domain/clock.ts'
import type { SearchPage, SearchQuery, SearchReads } from '../ports/search.ts'
import { toSession } from '../tables/sessions.ts'
import type { Statement } from '../tables/statement.ts'
import {
  createFoundRows,
  type Found,
  type FoundRows,
  MOST_ROWS_OF_RANGE,
  rangeBelow,
  type Source,
} from './rows/search-table.ts'
import type { Sql } from './sql.ts'

/** A look goes over so many rows at first, over more while looks are quick, and over fewer when they are not. */
const FIRST_ROWS = 2_048
const QUICK_MS = 10
const LONG_MS = 50
/** The most rows that one look finds. */
const MOST_FOUND = 500
/** The longest time that one search takes, but for its last look. A page ends there, and the next one goes on. */
const SEARCH_MS = 400

const isDue: Statement = { name: 'search_is_due', text: 'SELECT EXISTS (SELECT 1 FROM search_due)' }

/** Titles come first, newest first, then messages, newest first. Rows below this one were not looked at yet. */
interface Place {
  source: Source
  below: number
}

export function createSearchReads(sql: Sql, clock: Pick<Clock, 'mono'>): SearchReads {
  const rows = createFoundRows(sql)

  return {
    async find(query) {
      const [due] = await sql.rows<[boolean]>(isDue)
      const isComplete = due?.[0] === false
      const start = placeOf(query.before)
      if (start === null || query.terms.length === 0) return { found: [], next: null, isComplete }
      return { ...(await search(rows, query, start, clock)), isComplete }
    },
  }
}

function placeOf(before: string | undefined): Place | null {
  if (before === undefined) return { source: 't', below: Number.MAX_SAFE_INTEGER }
  const [, source, below] = /^([tm])(\d{1,15})$/.exec(before) ?? []
  return source === undefined ? null : { source: source === 't' ? 't' : 'm', below: Number(below) }
}

async function search(
  rows: FoundRows,
  query: SearchQuery,
  start: Place,
  clock: Pick<Clock, 'mono'>,
): Promise<Omit<SearchPage, 'isComplete'>> {
  const until = clock.mono() + SEARCH_MS
  const seen = new Set<string>()
  const found: SearchPage['found'] = []
  let next: string | null = null

  /** Whether an earlier page has shown it. Only agents elsewhere have titles, which come before messages. */
  const wasShown = async (source: Source, { session, isElsewhere }: Found): Promise<boolean> =>
    source === 'm' &&
    ((isElsewhere && (await rows.has(query, 't', session, 0))) ||
      (start.source === 'm' && (await rows.has(query, 'm', session, start.below))))

  for (const source of start.source === 't' ? (['t', 'm'] as const) : (['m'] as const)) {
    let below = Math.min((await rows.last(source)) + 1, source === start.source ? start.below : Number.MAX_SAFE_INTEGER)
    let size = FIRST_ROWS
    while (below > 1) {
      const begun = clock.mono()
      const range = rangeBelow(below, size)
      const look = await rows.look(query, source, range, MOST_FOUND)
      const took = clock.mono() - begun
      if (took < QUICK_MS) size = Math.min(MOST_ROWS_OF_RANGE, size * 2)
      else if (took > LONG_MS) size = Math.max(FIRST_ROWS / 2, size / 2)
      for (const one of look.found) {
        if (seen.has(one.session)) continue
        seen.add(one.session)
        if (await wasShown(source, one)) continue
        if (found.length === query.limit) return { found, next }
        const shown = await rows.show(query, one.session)
        if (shown !== null) found.push({ session: toSession(shown.session), hits: shown.hits })
        next = `${source}${one.ord}`
        if (clock.mono() > until) return { found, next }
      }
      below = look.next ?? range.above
      if (found.length < query.limit) next = `${source}${below}`
      if (clock.mono() > until) return { found, next }
    }
  }
  return { found, next: null }
}
