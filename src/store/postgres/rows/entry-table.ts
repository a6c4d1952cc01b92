import type { Journal, StoredEntry } from '../../ports/journal.ts'
import { createCollector, type EntryRow, toEntries, unpackRow } from '../../tables/packed-rows.ts'
import type { Statement } from '../../tables/statement.ts'
import type { Sql } from '../sql.ts'
import { bytesFor, isEverything, withinBytes } from './bounded-rows.ts'

const ENTRY_COLUMNS = 'first_seq, run_id, data, layout, last_seq'
/** A row may hold an event of several megabytes, or a few characters of text in flight. So a read is bounded by both. */
export const MOST_ROWS = 500

const within = (rows: string, order: 'ASC' | 'DESC'): string =>
  withinBytes({
    rows,
    columns: ENTRY_COLUMNS,
    bytes: 'octet_length(data)',
    order: `last_seq ${order}`,
    limit: '$4',
  })

const rowsOf = (condition: string, order: 'ASC' | 'DESC', limit: string): string =>
  `SELECT ${ENTRY_COLUMNS} FROM entries WHERE session = $1 AND ${condition} ORDER BY last_seq ${order} LIMIT ${limit}`

/** Whole rows after the seq `$2`: at most `$3` rows, up to the one with which there are `$4` bytes. */
export const rowsAfter: Statement = { name: 'entries_after', text: within(rowsOf('last_seq > $2', 'ASC', '$3'), 'ASC') }

/** Begins with the row that `$2` lies in. */
const around: Statement = {
  name: 'entries_around',
  text: within(
    `(${rowsOf('last_seq >= $2', 'ASC', '1')}) UNION ALL (${rowsOf('last_seq < $2', 'DESC', '$3')})`,
    'DESC',
  ),
}

const before: Statement = { name: 'entries_before', text: within(rowsOf('last_seq < $2', 'DESC', '$3'), 'DESC') }

export const lastSeq: Statement = {
  name: 'entries_last_seq',
  text: 'SELECT last_seq FROM entries WHERE session = $1 ORDER BY last_seq DESC LIMIT 1',
}

/** A session with more rows of news, or with a larger one, is read alone: many may have news at once. */
const NEWS_ROWS = 8
const NEWS_BYTES = 4_096

const news: Statement = {
  name: 'entries_news',
  text: `SELECT given.session, first_seq, run_id, last_seq,
      CASE WHEN octet_length(data) <= ${NEWS_BYTES} AND layout IS NULL THEN data END
    FROM unnest($1::text[], $2::bigint[]) AS given (session, after)
    JOIN sessions ON sessions.id = given.session AND sessions.status <> 'terminated'
    LEFT JOIN LATERAL (
      SELECT first_seq, run_id, last_seq, data, layout FROM entries
      WHERE entries.session = given.session AND last_seq > given.after ORDER BY last_seq LIMIT ${NEWS_ROWS}) AS added ON true`,
}

type NewsRow = [session: string, ...row: [firstSeq: number, runId: string | null, lastSeq: number, data: string | null]]

export function createEntryReads(sql: Sql): Omit<Journal, 'commit'> {
  /** What to ask for next. A row has one entry or more. */
  const ask = ({ entries, chars }: { entries: number; chars: number }) => ({
    rows: Math.min(MOST_ROWS, entries),
    bytes: bytesFor(chars),
  })

  return {
    async entries(sessionId, seq, limit, maxChars = Number.POSITIVE_INFINITY) {
      const { found, isEnough, take, left } = createCollector(limit, maxChars)
      let last = seq
      while (!isEnough()) {
        const asked = ask(left())
        const read = await sql.rows<EntryRow>(rowsAfter, [sessionId, last, asked.rows, asked.bytes])
        for (const row of read) {
          for (const entry of toEntries(row)) if (!isEnough() && entry.seq > seq) take(entry)
          last = row[4]
        }
        if (isEverything({ rows: read.length, chars: charsOf(read) }, asked)) break
      }
      return found
    },

    async entriesBefore(sessionId, seq, limit, maxChars = Number.POSITIVE_INFINITY) {
      const { found, isEnough, take, left } = createCollector(limit, maxChars)
      let first: number | null = null
      while (!isEnough()) {
        const asked = ask(left())
        const values = [sessionId, first ?? seq, asked.rows, asked.bytes]
        const read: EntryRow[] = await sql.rows<EntryRow>(first === null ? around : before, values)
        for (const row of read) {
          for (const entry of toEntries(row).reverse()) if (!isEnough() && entry.seq < seq) take(entry)
          first = row[4]
        }
        if (isEverything({ rows: read.length, chars: charsOf(read) }, asked)) break
      }
      return found
    },

    async head(sessionId) {
      const [row] = await sql.rows<[number]>(lastSeq, [sessionId])
      return row?.[0] ?? 0
    },
    async news(after) {
      if (after.size === 0) return new Map()
      const read = await sql.rows<NewsRow>(news, [[...after.keys()], [...after.values()]])
      return new Map(
        [...Map.groupBy(read, ([session]) => session)].map(([session, rows]) => [
          session,
          newsOf(rows, after.get(session) ?? 0),
        ]),
      )
    },
  }
}

/** A session without news has one row of nulls. */
function newsOf(rows: readonly NewsRow[], after: number): StoredEntry[] | null {
  if (rows[0]?.[3] === null) return []
  if (rows.length === NEWS_ROWS) return null
  const entries: StoredEntry[] = []
  for (const [, firstSeq, runId, , data] of rows.toSorted((a, b) => a[3] - b[3])) {
    if (data === null) return null
    entries.push(...unpackRow(firstSeq, runId, data, null))
  }
  return entries.filter(({ seq }) => seq > after)
}

const charsOf = (rows: readonly EntryRow[]): number => rows.reduce((sum, [, , data]) => sum + data.length, 0)
