// Full-text search with SQLite's FTS5. The index knows only words and the numbers of rows; texts are read from their own tables, so
// nothing is stored twice.

import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Excerpt,
  excerptOf,
  indexedText,
  type SearchTerm,
  searchedSupervision,
  searchedText,
} from '../../../domain/session/search-words.ts'
import type { Supervision } from '../../../domain/supervision/supervision.ts'
import { sha256 } from '../../../json/digest.ts'
import { HITS_OF_A_SESSION, type SearchHit, type SearchQuery, type SearchReads } from '../../ports/search.ts'
import { type MessageRow, messageColumns, placeOf, toMessage } from '../../tables/messages.ts'
import { createSearch, type Found, type FoundRows, type Range, type Source } from '../../tables/search.ts'
import { LISTED_COLUMNS, toSession } from '../../tables/sessions.ts'
import { createStatements, type Statements } from '../statements.ts'

/**
 * Rows are indexed with the number of their bucket. FTS5 looks for the next match however far away it is, whatever range of rows is asked
 * for. It stops at the end of a bucket, because a bucket is a word that must be there too. So no look is long, whatever is asked.
 */
const BUCKET_ROWS = 1_024
const MOST_BUCKETS = 64

export const createSearchReads = (db: DatabaseSync, statements: Statements): SearchReads =>
  createSearch(createFoundRows(db, statements), { quickMs: 3, longMs: 12, mostRows: MOST_BUCKETS * BUCKET_ROWS }, () =>
    performance.now(),
  )

function createFoundRows(db: DatabaseSync, { one }: Statements): FoundRows<number> {
  const visible = `sessions.unlisted = 0 AND sessions.status <> 'terminated' AND (?4 IS NULL OR sessions.owner = ?4)
     AND (?5 IS NULL OR sessions.agent = ?5)`
  // CROSS: the index comes first, and then the rows that it names.
  const titles = db.prepare(
    `SELECT sessions.sid AS number, sessions.sid, 1 AS elsewhere FROM search_words CROSS JOIN sessions ON sessions.sid = -search_words.rowid
     WHERE search_words MATCH ?1 AND search_words.rowid <= -?2 AND search_words.rowid > -?3 AND ${visible}
     AND (?6 IS NULL OR sessions.created_at >= ?6) AND (?7 IS NULL OR sessions.created_at <= ?7)
     ORDER BY search_words.rowid LIMIT ?8 + 0`,
  )
  const messages = db.prepare(
    `SELECT messages.mid AS number, messages.sid, sessions.supervised_status IS NOT NULL AS elsewhere FROM search_words CROSS JOIN messages ON messages.mid = search_words.rowid
     CROSS JOIN sessions ON sessions.sid = messages.sid
     WHERE search_words MATCH ?1 AND search_words.rowid >= ?2 AND search_words.rowid < ?3 AND ${visible}
     AND messages.superseded_by IS NULL AND (?6 IS NULL OR messages.created_at >= ?6) AND (?7 IS NULL OR messages.created_at <= ?7)
     ORDER BY search_words.rowid DESC LIMIT ?8 + 0`,
  )
  const due = db.prepare(
    `SELECT EXISTS (SELECT 1 FROM messages WHERE mid > (SELECT indexed_to FROM search_state WHERE only = 1))
       OR EXISTS (SELECT 1 FROM search_due) AS due`,
  )
  const sessionBySid = one(`SELECT ${LISTED_COLUMNS} FROM sessions WHERE sid = $1`, toSession)
  const lastSession = db.prepare('SELECT max(sid) AS last FROM sessions')
  const lastMessage = db.prepare('SELECT max(mid) AS last FROM messages')
  const message = one(`SELECT ${messageColumns('mid')} FROM messages WHERE mid = $1`, toMessage)

  /** `session`: only of this one. */
  function read(query: SearchQuery, source: Source, range: Range, limit: number, session?: number): Found<number>[] {
    const { terms, owner = null, agent = null, since = null, until = null } = query
    const words = matching(terms, placesIn(source, range, owner, session))
    const values = [range.above, range.below, owner, agent, since, until, limit]
    return (source === 't' ? titles : messages).all(words, ...values).map((row) => ({
      row: Number(row.number),
      session: Number(row.sid),
      isElsewhere: row.elsewhere === 1,
    }))
  }

  const hasTitle = (query: SearchQuery, sid: number): boolean =>
    read(query, 't', { above: sid, below: sid + 1 }, 1, sid).length > 0
  const newest = (query: SearchQuery, sid: number, above: number, limit: number): number[] =>
    read(query, 'm', { above, below: Number.MAX_SAFE_INTEGER }, limit, sid).map(({ row }) => row)

  return {
    isComplete: async () => due.get()?.due === 0,
    last: async (source) => Number((source === 't' ? lastSession : lastMessage).get()?.last ?? 0),
    rangeBelow: (below, rows) => ({
      above: Math.max(1, bucketOf(below - 1 - rows + BUCKET_ROWS) * BUCKET_ROWS),
      below,
    }),
    async look(query, source, range, limit) {
      const found = read(query, source, range, limit)
      return { found, next: found.length < limit ? null : (found.at(-1)?.row ?? null) }
    },
    turn: nextTurn,
    has: async (query, source, sid, from) =>
      source === 't' ? hasTitle(query, sid) : newest(query, sid, from, 1).length > 0,
    async show(query, sid, known) {
      const session = sessionBySid(sid)
      if (session === null) return null
      const { createdAt, supervision } = session
      const hits: SearchHit[] = []
      const add = (hit: Omit<SearchHit, keyof Excerpt>, text: string) =>
        hits.push({ ...hit, ...excerptOf(query.terms, text) })
      if (supervision !== undefined && hasTitle(query, sid)) {
        add({ messageId: null, role: null, at: createdAt }, searchedSupervision(supervision))
      }
      const rows = known.length >= HITS_OF_A_SESSION ? known : newest(query, sid, 1, HITS_OF_A_SESSION)
      for (const row of rows.slice(0, HITS_OF_A_SESSION)) {
        const stored = message(row)
        if (stored === null) continue
        add({ messageId: stored.id, role: stored.role, at: stored.createdAt }, searchedText(stored) ?? '')
      }
      await nextTurn()
      return { session, hits }
    },
  }
}

const bucketOf = (row: number): number => Math.floor(row / BUCKET_ROWS)

const wordOfSession = (sid: number): string => `s${sid}`
const wordOfOwner = (owner: string): string => `o${sha256(owner).slice(0, 16)}`
const wordOfBucket = (source: Source, bucket: number): string => `${source}${bucket}`

/** Of each list, one word must be in the place of a row. */
function placesIn(source: Source, { above, below }: Range, owner: string | null, sid?: number): string[][] {
  const owners = owner === null ? [] : [[wordOfOwner(owner)]]
  // A session bounds the look by itself.
  if (sid !== undefined) return [...owners, [wordOfSession(sid)]]
  const [first, last] = [bucketOf(above), bucketOf(below - 1)]
  return [...owners, Array.from({ length: last - first + 1 }, (_, i) => wordOfBucket(source, first + i))]
}

/** The query in the words of FTS5. Words are letters and digits, so nothing in them can be its syntax. */
function matching(terms: readonly SearchTerm[], places: readonly (readonly string[])[]): string {
  const body = terms.map(({ words, isPrefix }) => `"${words.join(' ')}"${isPrefix ? ' *' : ''}`).join(' AND ')
  return [
    ...places.map((words) => `place : (${words.map((word) => `"${word}"`).join(' OR ')})`),
    `body : (${body})`,
  ].join(' AND ')
}

const TITLES_AT_ONCE = 50

/** Brings the index up to date, step by step. */
export function createSearchIndexRows(db: DatabaseSync) {
  const { many } = createStatements(db)
  const newMessages = db.prepare(
    `SELECT sid, (SELECT owner FROM sessions WHERE sessions.sid = messages.sid), ${messageColumns('mid')} FROM messages
     WHERE mid > (SELECT indexed_to FROM search_state WHERE only = 1) ORDER BY mid`,
  )
  newMessages.setReturnArrays(true)
  function* dueMessages() {
    // Read one by one: a step may end after the first of many long ones.
    for (const found of newMessages.iterate() as Iterable<unknown>) {
      const [sid, owner, ...message] = found as [sid: number, owner: string, ...MessageRow]
      yield { row: placeOf(message), text: searchedText(toMessage(message)), sid, owner }
    }
  }
  const due = db.prepare(
    'SELECT (SELECT ifnull(max(mid), 0) FROM messages) - indexed_to AS due FROM search_state WHERE only = 1',
  )
  const dueTitles = many(
    'SELECT sid, owner, supervision FROM search_due JOIN sessions USING (sid) WHERE supervision IS NOT NULL LIMIT ?1',
    ([sid, owner, supervision]: [number, string, string]) => ({
      row: sid,
      text: searchedSupervision(JSON.parse(supervision) as Supervision) as string | null,
      sid,
      owner,
    }),
  )
  const add = db.prepare('INSERT INTO search_words (rowid, body, place) VALUES (?, ?, ?)')
  const forget = db.prepare('DELETE FROM search_words WHERE rowid = ?')
  const indexedTo = db.prepare('UPDATE search_state SET indexed_to = ? WHERE only = 1')
  const settle = db.prepare('DELETE FROM search_due WHERE sid = ?')

  return {
    /** Indexes about `chars` characters of text, and says whether something is left. Call it in a transaction. */
    step(chars: number): boolean {
      let left = chars
      function put(source: Source, { row, text, sid, owner }: ReturnType<typeof dueTitles>[number]): void {
        left -= 100 + (text?.length ?? 0)
        if (text === null || text === '') return
        const words = [wordOfSession(sid), wordOfOwner(owner), wordOfBucket(source, bucketOf(row))]
        add.run(source === 't' ? -row : row, indexedText(text), words.join(' '))
      }
      const titles = dueTitles(TITLES_AT_ONCE)
      for (const title of titles) {
        forget.run(-title.row)
        put('t', title)
        settle.run(title.row)
        if (left <= 0) return true
      }
      let last: number | null = null
      for (const message of dueMessages()) {
        put('m', message)
        last = message.row
        if (left <= 0) break
      }
      if (last !== null) indexedTo.run(last)
      return left <= 0 || titles.length === TITLES_AT_ONCE
    },
    /** How many texts are due, at most. */
    due: (): number => Number(due.get()?.due),
    /** Forgets everything, so that it is indexed again. */
    clear(): void {
      db.exec("INSERT INTO search_words (search_words) VALUES ('delete-all')")
      db.exec('UPDATE search_state SET indexed_to = 0')
      db.exec('INSERT OR IGNORE INTO search_due SELECT sid FROM sessions WHERE supervision IS NOT NULL')
    },
  }
}
