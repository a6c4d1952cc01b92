// Full-text search with tsvectors of our own words: no dictionary of Postgres changes them. The index knows which words a text has, not
// where. Texts are read from their own tables: to show them, and to check phrases.

import type { Clock } from '../../../domain/clock.ts'
import {
  excerptOf,
  hasTerms,
  indexedText,
  type SearchTerm,
  searchedSupervision,
  searchedText,
} from '../../../domain/session/search-words.ts'
import type { Supervision } from '../../../domain/supervision/supervision.ts'
import { sha256 } from '../../../json/digest.ts'
import { HITS_OF_A_SESSION, type SearchHit, type SearchQuery, type SearchReads } from '../../ports/search.ts'
import { type MessageRow, toMessage } from '../../tables/messages.ts'
import { createSearch, type FoundRows, type Range, type Source } from '../../tables/search.ts'
import { LISTED_COLUMNS, type SessionRow, toSession } from '../../tables/sessions.ts'
import { asked, type Statement, select } from '../../tables/statement.ts'
import { createNaming, type Sql } from '../sql.ts'
import { isEverything, MOST_BYTES, withinBytes } from './bounded-rows.ts'
import { MESSAGE_COLUMNS } from './message-table.ts'

/**
 * Texts are indexed with the numbers of their buckets, as words that no text has. Without a bucket in the query, Postgres would collect all
 * rows that have the words, however many. So no look is long, whatever is asked.
 */
const SMALL_BUCKET = 1_024
const LARGE_BUCKET = 65_536
/** A look covers this many buckets at most. */
const MOST_BUCKETS = 64

/** It begins with a bucket. */
function rangeBelow(below: number, rows: number): Range {
  const size = bucketSize(rows)
  const last = Math.floor((below - 1) / size)
  return { above: Math.max(1, (last - Math.floor(rows / size) + 1) * size), below }
}

const bucketSize = (rows: number): number => (rows > SMALL_BUCKET * MOST_BUCKETS ? LARGE_BUCKET : SMALL_BUCKET)

function bucketsIn(source: Source, { above, below }: Range): string[] {
  const size = bucketSize(below - above)
  const [first, last] = [Math.floor(above / size), Math.floor((below - 1) / size)]
  return Array.from({ length: last - first + 1 }, (_, i) => bucketWord(source, size, first + i))
}

// A word of a text never begins with a slash.
const bucketWord = (source: Source, size: number, bucket: number): string =>
  `/${source}${size === SMALL_BUCKET ? 's' : 'l'}${bucket}`
const ownerWord = (owner: string): string => `/o${sha256(owner).slice(0, 16)}`

/** The words of a row of the index, with blanks between them. A tsvector has at most a megabyte, so only the beginning of a very long text is found. */
export function wordsOf(row: { source: Source; ord: number; owner: string; text: string }): string {
  const { source, ord, owner, text } = row
  const words = new Set(
    [SMALL_BUCKET, LARGE_BUCKET].map((size) => bucketWord(source, size, Math.floor(ord / size))),
  ).add(ownerWord(owner))
  let length = 0
  for (const word of indexedText(text).split(' ')) {
    if (word === '' || words.has(word)) continue
    length += word.length
    if (length > MOST_WORD_CHARS) break
    words.add(word)
  }
  return [...words].join(' ')
}

const MOST_WORD_CHARS = 250_000

/** The query in Postgres's words. Words are letters, digits and slashes, so nothing in them can be its syntax. */
function matching(terms: readonly SearchTerm[], owner: string | undefined, buckets: readonly string[]): string {
  const body = terms.flatMap(({ words, isPrefix }) =>
    words.map((word, i) => (isPrefix && i === words.length - 1 ? `'${word}':*` : `'${word}'`)),
  )
  const places = buckets.length === 0 ? [] : [`(${buckets.map((word) => `'${word}'`).join(' | ')})`]
  return [...places, ...(owner === undefined ? [] : [`'${ownerWord(owner)}'`]), ...body].join(' & ')
}

/** The index does not know the order of words, so texts with phrases are read. */
const hasPhrase = (terms: readonly SearchTerm[]): boolean => terms.some(({ words }) => words.length > 1)

type FoundRow = [session: string, ord: number, isElsewhere: boolean, ...text: unknown[]]
const FOUND_COLUMNS = 'found_session, found_ord, is_elsewhere'
/** The table of the texts, their columns and their size. */
const texts: Readonly<Record<Source, { table: string; columns: string; bytes: string }>> = {
  t: { table: 'sessions', columns: 'supervision, created_at', bytes: 'octet_length(supervision)' },
  m: {
    table: 'messages',
    columns: MESSAGE_COLUMNS,
    bytes: 'octet_length(content) + coalesce(octet_length(extra), 0)',
  },
}

const lastNumbers: Readonly<Record<Source, Statement>> = {
  t: { name: 'search_last_title', text: 'SELECT last_value FROM sessions_ord_seq' },
  m: { name: 'search_last_message', text: 'SELECT last_value FROM messages_ord_seq' },
}

const listedSession: Statement = {
  name: 'search_session',
  text: `SELECT ${LISTED_COLUMNS} FROM sessions WHERE id = $1`,
}

/** Candidates of a session that are read at once, to check phrases. */
const CANDIDATES = 50

const isDue: Statement = { name: 'search_is_due', text: 'SELECT EXISTS (SELECT 1 FROM search_due)' }

export const createSearchReads = (sql: Sql, { mono }: Pick<Clock, 'mono'>): SearchReads =>
  createSearch(createFoundRows(sql), { quickMs: 10, longMs: 50, mostRows: LARGE_BUCKET * MOST_BUCKETS }, mono)

function createFoundRows(sql: Sql): FoundRows<string> {
  const named = createNaming('search')

  /**
   * One text for each combination of conditions. With their texts, candidates are read until there are enough bytes: people write
   * messages of any length. `isAll`: there are no more of them for certain.
   */
  async function candidates(
    query: SearchQuery,
    source: Source,
    where: { words: string; range: Range; session?: string; withText: boolean; limit: number },
  ): Promise<{ rows: FoundRow[]; isAll: boolean }> {
    const { owner, agent, since, until } = query
    const { words, range, session, withText, limit } = where
    const at = source === 't' ? 'sessions.created_at' : 'messages.created_at'
    const messages =
      source === 't'
        ? ''
        : 'JOIN messages ON messages.session = found.session AND messages.id = found.message_id AND messages.superseded_by IS NULL'
    const { table, columns, bytes } = texts[source]
    const stored = columns.split(', ').map((column) => `, ${table}.${column}`)
    const { text, values } = select(
      `SELECT found.session AS found_session, found.ord AS found_ord,
        sessions.supervised_status IS NOT NULL AS is_elsewhere${withText ? stored.join('') : ''}
      FROM search_words AS found JOIN sessions ON sessions.id = found.session ${messages}`,
      [
        ['found.words @@ $::tsquery', words],
        [`found.source = '${source}'`],
        ['found.ord >= $ AND found.ord < $', range.above, range.below],
        [`NOT sessions.unlisted AND sessions.status <> 'terminated'`],
        asked('found.session = $', session),
        asked('sessions.owner = $', owner),
        asked('sessions.agent = $', agent),
        asked(`${at} >= $`, since),
        asked(`${at} <= $`, until),
      ],
      { order: 'found.ord DESC', limit },
    )
    if (!withText) {
      const rows = await sql.rows<FoundRow>(named(text), values)
      return { rows, isAll: rows.length < limit }
    }
    const bounded = withinBytes({
      rows: text,
      columns: `${FOUND_COLUMNS}, ${columns}`,
      bytes,
      order: 'found_ord DESC',
      limit: `$${values.length + 1}`,
    })
    const rows = await sql.rows<FoundRow>(named(bounded), [...values, MOST_BYTES])
    const chars = rows.reduce((sum, [, , , ...stored]) => sum + charsOf(stored), 0)
    return { rows, isAll: isEverything({ rows: rows.length, chars }, { rows: limit, bytes: MOST_BYTES }) }
  }

  /** The newest `most` hits of a session with a number from `from` on. */
  async function hitsOf(query: SearchQuery, source: Source, session: string, from: number, most: number) {
    const { terms } = query
    const hits: SearchHit[] = []
    const words = matching(terms, query.owner, [])
    const limit = hasPhrase(terms) ? CANDIDATES : most
    let below = Number.MAX_SAFE_INTEGER
    for (;;) {
      const range = { above: from, below }
      const { rows, isAll } = await candidates(query, source, { words, range, session, withText: true, limit })
      for (const [, ord, , ...stored] of rows) {
        below = ord
        const { hit, text } = shownText(source, stored)
        if (hasTerms(terms, text)) hits.push({ ...hit, ...excerptOf(terms, text) })
        if (hits.length === most) return hits
      }
      if (isAll) return hits
    }
  }

  return {
    async isComplete() {
      const [due] = await sql.rows<[boolean]>(isDue)
      return due?.[0] === false
    },
    rangeBelow,
    async last(source) {
      const [row] = await sql.rows<[number]>(lastNumbers[source])
      return row?.[0] ?? 0
    },
    async look(query, source, range, limit) {
      const { terms, owner } = query
      const words = matching(terms, owner, bucketsIn(source, range))
      const withText = hasPhrase(terms)
      const { rows, isAll } = await candidates(query, source, { words, range, withText, limit })
      const found = rows.filter(([, , , ...stored]) => !withText || hasTerms(terms, shownText(source, stored).text))
      return {
        found: found.map(([session, row, isElsewhere]) => ({ session, row, isElsewhere })),
        next: isAll ? null : (rows.at(-1)?.[1] ?? null),
      }
    },
    turn: async () => {},
    async has(query, source, session, from) {
      return (await hitsOf(query, source, session, from, 1)).length > 0
    },
    async show(query, id) {
      const [row] = await sql.rows<SessionRow>(listedSession, [id])
      if (row === undefined) return null
      const session = toSession(row)
      const titles = session.supervision === undefined ? [] : await hitsOf(query, 't', id, 0, 1)
      const messages = await hitsOf(query, 'm', id, 0, HITS_OF_A_SESSION)
      return { session, hits: [...titles, ...messages] }
    },
  }
}

const charsOf = (stored: readonly unknown[]): number =>
  stored.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)

/** The text of a candidate, and what is shown with it. */
function shownText(source: Source, stored: readonly unknown[]) {
  if (source === 't') {
    const [supervision, at] = stored as [string | null, number]
    const text = supervision === null ? '' : searchedSupervision(JSON.parse(supervision) as Supervision)
    return { text, hit: { messageId: null, role: null, at } }
  }
  const message = toMessage(stored as unknown as MessageRow)
  const { id: messageId, role, createdAt: at } = message
  return { text: searchedText(message) ?? '', hit: { messageId, role, at } }
}

/** Whoever works on an older title must not say that it is done. */
const AGAIN = 'ON CONFLICT (session, source, message_id) DO UPDATE SET v = DEFAULT, claimed_at = NULL'

/** The session `$1` of an agent elsewhere is new, or its title or its prompt has changed. */
export const titleIsDue: Statement = {
  name: 'search_title_is_due',
  text: `INSERT INTO search_due (session, source, message_id) VALUES ($1, 't', '') ${AGAIN}`,
}

/** The session `$1` has another owner. */
export const sessionIsDue: Statement = {
  name: 'search_session_is_due',
  text: `INSERT INTO search_due (session, source, message_id) SELECT session, 'm', id FROM messages WHERE session = $1
    UNION ALL VALUES ($1, 't', '') ${AGAIN}`,
}

/** Run these in order when the content of session `$1` is removed. Then an indexer that works on it leaves nothing behind. */
export const eraseSearch: readonly Statement[] = [
  { name: 'search_erase_due', text: 'DELETE FROM search_due WHERE session = $1' },
  { name: 'search_erase_words', text: 'DELETE FROM search_words WHERE session = $1' },
]
