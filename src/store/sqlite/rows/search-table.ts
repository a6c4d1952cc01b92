// Full-text search with SQLite's FTS5. The index knows only words and the numbers of rows; texts are read from their own tables, so
// nothing is stored twice.

import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  excerptOf,
  indexedText,
  type SearchTerm,
  searchedSupervision,
  searchedText,
} from '../../../domain/session/search-words.ts'
import type { Supervision } from '../../../domain/supervision/supervision.ts'
import {
  HITS_OF_A_SESSION,
  type SearchHit,
  type SearchPage,
  type SearchQuery,
  type SearchReads,
} from '../../ports/search.ts'
import { type MessageRow, messageColumns, placeOf, toMessage } from '../../tables/messages.ts'
import { LISTED_COLUMNS, toSession } from '../../tables/sessions.ts'
import { createStatements, type Statements } from '../statements.ts'

/**
 * Rows are indexed with the number of their bucket. FTS5 looks for the next match however far away it is, whatever range of rows is asked
 * for. It stops at the end of a bucket, because a bucket is a word that must be there too. So no look is long, whatever is asked.
 */
const BUCKET_ROWS = 1_024
/** A look goes over two buckets at first, over more while looks are quick, and over fewer when they are not. */
const FIRST_BUCKETS = 2
const MOST_BUCKETS = 64
const QUICK_MS = 3
const LONG_MS = 12
/** The most rows that one look finds. */
const MOST_ROWS = 500
/** The longest time that one search takes. A page ends there, and the next one goes on. */
const SEARCH_MS = 400

/** Titles come first, newest first, then messages, newest first. */
type Source = 'titles' | 'messages'

/** Rows below this one were not looked at yet. */
interface Place {
  source: Source
  below: number
}

export function createSearchReads(db: DatabaseSync, statements: Statements): SearchReads {
  const rows = createFoundRows(db, statements)
  const due = db.prepare(
    `SELECT EXISTS (SELECT 1 FROM messages WHERE mid > (SELECT indexed_to FROM search_state WHERE only = 1))
       OR EXISTS (SELECT 1 FROM search_due) AS due`,
  )
  const sessionBySid = statements.one(`SELECT ${LISTED_COLUMNS} FROM sessions WHERE sid = $1`, toSession)

  return {
    async find(query) {
      const isComplete = due.get()?.due === 0
      const start = startOf(query.before)
      const found: SearchPage['found'] = []
      if (start === null || query.terms.length === 0) return { found, next: null, isComplete }
      const until = performance.now() + SEARCH_MS
      let next: string | null = null
      for (const { sid, known, after } of findSessions(rows, query, start)) {
        const isFull = found.length === query.limit
        if (isFull && sid !== null) return { found, next, isComplete }
        if (!isFull) next = `${after.source === 'titles' ? 't' : 'm'}${after.below}`
        const session = sid === null ? null : sessionBySid(sid)
        if (sid !== null && session !== null) found.push({ session, hits: rows.hits(query, sid, known) })
        if (performance.now() > until) return { found, next, isComplete }
        await nextTurn()
      }
      return { found, next: null, isComplete }
    },
  }
}

function startOf(before: string | undefined): Place | null {
  if (before === undefined) return { source: 'titles', below: Number.MAX_SAFE_INTEGER }
  const [, source, below] = /^([tm])(\d{1,15})$/.exec(before) ?? []
  return source === undefined ? null : { source: source === 't' ? 'titles' : 'messages', below: Number(below) }
}

interface Step {
  /** Null: this look has found no other session. */
  sid: number | null
  /** Messages of the session that this look has found, newest first. */
  known: readonly number[]
  /** Where the search goes on after it. */
  after: Place
}

/** Gives each session once. */
function* findSessions(rows: FoundRows, query: SearchQuery, start: Place): Generator<Step> {
  const seen = new Set<number>()
  /** Whether an earlier page has shown it. Titles come before messages, and only agents elsewhere have them. */
  const wasShown = (source: Source, { sid, isElsewhere }: FoundRow): boolean =>
    source === 'messages' &&
    ((isElsewhere && rows.titles(query, { above: sid, below: sid + 1, sid }, 1).length > 0) ||
      (start.source === 'messages' &&
        rows.messages(query, { above: start.below, below: Number.MAX_SAFE_INTEGER, sid }, 1).length > 0))

  for (const source of ['titles', 'messages'] as const) {
    if (source === 'titles' && start.source === 'messages') continue
    let below = Math.min(rows.last(source) + 1, source === start.source ? start.below : Number.MAX_SAFE_INTEGER)
    let buckets = FIRST_BUCKETS
    while (below > 1) {
      const begun = performance.now()
      const above = Math.max(1, (bucketOf(below - 1) - buckets + 1) * BUCKET_ROWS)
      const found = rows[source](query, { above, below }, MOST_ROWS)
      const took = performance.now() - begun
      if (took < QUICK_MS) buckets = Math.min(MOST_BUCKETS, buckets * 2)
      else if (took > LONG_MS) buckets = Math.max(1, buckets >> 1)
      for (const one of found) {
        if (seen.has(one.sid)) continue
        seen.add(one.sid)
        if (wasShown(source, one)) continue
        const known = source === 'titles' ? [] : found.filter(({ sid }) => sid === one.sid).map(({ row }) => row)
        yield { sid: one.sid, known, after: { source, below: one.row } }
      }
      below = found.length < MOST_ROWS ? above : (found.at(-1)?.row ?? above)
      yield { sid: null, known: [], after: { source, below } }
    }
  }
}

interface FoundRow {
  /** The message's number, or the session's for a title. */
  row: number
  sid: number
  isElsewhere: boolean
}

interface Range {
  /** From this row on, up to but without that one. */
  above: number
  below: number
  /** Only of this session. */
  sid?: number
}

interface FoundRows {
  /** The highest number of a row. */
  last(source: Source): number
  titles(query: SearchQuery, range: Range, limit: number): FoundRow[]
  messages(query: SearchQuery, range: Range, limit: number): FoundRow[]
  /** The title and the newest messages of a session. `known` are messages that were found already. */
  hits(query: SearchQuery, sid: number, known: readonly number[]): SearchHit[]
}

function createFoundRows(db: DatabaseSync, { one }: Statements): FoundRows {
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
  const lastSession = db.prepare('SELECT max(sid) AS last FROM sessions')
  const lastMessage = db.prepare('SELECT max(mid) AS last FROM messages')
  const message = one(`SELECT ${messageColumns('mid')} FROM messages WHERE mid = $1`, toMessage)
  const session = db.prepare('SELECT created_at, supervision FROM sessions WHERE sid = ?')

  const read = (source: Source, statement: typeof titles) => (query: SearchQuery, range: Range, limit: number) => {
    const { above, below } = range
    const { terms, owner = null, agent = null, since = null, until = null } = query
    const found = statement.all(
      matching(terms, placesIn(source, range, owner)),
      above,
      below,
      owner,
      agent,
      since,
      until,
      limit,
    )
    return found.map((row) => ({
      row: Number(row.number),
      sid: Number(row.sid),
      isElsewhere: row.elsewhere === 1,
    }))
  }

  const found: Pick<FoundRows, Source> = {
    titles: read('titles', titles),
    messages: read('messages', messages),
  }
  return {
    ...found,
    last: (source) => Number((source === 'titles' ? lastSession : lastMessage).get()?.last ?? 0),
    hits(query, sid, known) {
      const { terms } = query
      const row = session.get(sid)
      const titles = row?.supervision == null ? [] : found.titles(query, { above: sid, below: sid + 1, sid }, 1)
      const ofTitle = titles.flatMap((): SearchHit[] => {
        if (row?.supervision == null) return []
        const text = searchedSupervision(JSON.parse(String(row.supervision)) as Supervision)
        return [{ messageId: null, role: null, at: Number(row.created_at), ...excerptOf(terms, text) }]
      })
      const all = { above: 1, below: Number.MAX_SAFE_INTEGER, sid }
      const newest =
        known.length >= HITS_OF_A_SESSION
          ? known.slice(0, HITS_OF_A_SESSION)
          : found.messages(query, all, HITS_OF_A_SESSION).map(({ row }) => row)
      const ofMessages = newest.flatMap((row): SearchHit[] => {
        const stored = message(row)
        if (stored === null) return []
        const { id, role, createdAt, ...rest } = stored
        return [{ messageId: id, role, at: createdAt, ...excerptOf(terms, searchedText({ role, ...rest }) ?? '') }]
      })
      return [...ofTitle, ...ofMessages]
    },
  }
}

const bucketOf = (row: number): number => Math.floor(row / BUCKET_ROWS)

const wordOfSession = (sid: number): string => `s${sid}`
const wordOfOwner = (owner: string): string => `o${createHash('sha256').update(owner).digest('hex').slice(0, 16)}`
const wordOfBucket = (source: Source, bucket: number): string => `${source === 'titles' ? 't' : 'm'}${bucket}`

/** Of each list, one word must be in the place of a row. */
function placesIn(source: Source, { above, below, sid }: Range, owner: string | null): string[][] {
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

/** Brings the index up to date, step by step. */
export interface SearchIndexRows {
  /** Indexes about `chars` characters of text, and says whether something is left. Call it in a transaction. */
  step(chars: number): boolean
  /** Forgets everything, so that it is indexed again. */
  clear(): void
}

interface DueText {
  row: number
  text: string | null
  sid: number
  owner: string
}

export function createSearchIndexRows(db: DatabaseSync): SearchIndexRows {
  const { many } = createStatements(db)
  const dueMessages = many(
    `SELECT sid, (SELECT owner FROM sessions WHERE sessions.sid = messages.sid), ${messageColumns('mid')} FROM messages
     WHERE mid > (SELECT indexed_to FROM search_state WHERE only = 1) ORDER BY mid LIMIT 50`,
    ([sid, owner, ...message]: [sid: number, owner: string, ...MessageRow]) => ({
      row: placeOf(message),
      text: searchedText(toMessage(message)),
      sid,
      owner,
    }),
  )
  const dueTitles = many(
    'SELECT sid, owner, supervision FROM search_due JOIN sessions USING (sid) WHERE supervision IS NOT NULL LIMIT 50',
    ([sid, owner, supervision]: [number, string, string]) => ({
      row: sid,
      text: searchedSupervision(JSON.parse(supervision) as Supervision),
      sid,
      owner,
    }),
  )
  const add = db.prepare('INSERT INTO search_words (rowid, body, place) VALUES (?, ?, ?)')
  const forget = db.prepare('DELETE FROM search_words WHERE rowid = ?')
  const indexedTo = db.prepare('UPDATE search_state SET indexed_to = ? WHERE only = 1')
  const settle = db.prepare('DELETE FROM search_due WHERE sid = ?')

  return {
    step(chars) {
      let left = chars
      function put(source: Source, { row, text, sid, owner }: DueText): void {
        left -= 100 + (text?.length ?? 0)
        if (text === null || text === '') return
        const words = [wordOfSession(sid), wordOfOwner(owner), wordOfBucket(source, bucketOf(row))]
        add.run(source === 'titles' ? -row : row, indexedText(text), words.join(' '))
      }
      for (const title of dueTitles()) {
        forget.run(-title.row)
        put('titles', title)
        settle.run(title.row)
        if (left <= 0) return true
      }
      const found = dueMessages()
      for (const message of found) {
        put('messages', message)
        indexedTo.run(message.row)
        if (left <= 0) return true
      }
      return found.length > 0
    },
    clear() {
      db.exec("INSERT INTO search_words (search_words) VALUES ('delete-all')")
      db.exec('UPDATE search_state SET indexed_to = 0')
      db.exec('INSERT OR IGNORE INTO search_due SELECT sid FROM sessions WHERE supervision IS NOT NULL')
    },
  }
}
