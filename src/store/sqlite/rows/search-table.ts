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
} from '../../../domain/search-words.ts'
import type { Supervision } from '../../../domain/supervision.ts'
import {
  HITS_OF_A_SESSION,
  type SearchHit,
  type SearchPage,
  type SearchQuery,
  type SearchReads,
} from '../../ports/search.ts'
import { prepareSessions, readSession, toMessage } from './rows.ts'

/** A look at the index goes over so many rows at first. It grows while looks are quick. So no look is long, whatever is asked. */
const FIRST_WINDOW = 5_000
const QUICK_MS = 4
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

export function createSearchReads(db: DatabaseSync): SearchReads {
  const rows = createFoundRows(db)
  const due = db.prepare(
    `SELECT EXISTS (SELECT 1 FROM messages WHERE mid > (SELECT indexed_to FROM search_state WHERE only = 1))
       OR EXISTS (SELECT 1 FROM search_due) AS due`,
  )
  const sessionBySid = prepareSessions(db, 'sid = ?', { withState: false })

  return {
    async find(query) {
      const isComplete = due.get()?.due === 0
      const start = placeOf(query.before)
      const found: SearchPage['found'] = []
      if (start === null || query.terms.length === 0) return { found, next: null, isComplete }
      const until = performance.now() + SEARCH_MS
      let next: string | null = null
      for (const { sid, after } of findSessions(rows, query, start)) {
        const isFull = found.length === query.limit
        if (isFull && sid !== null) return { found, next, isComplete }
        if (!isFull) next = `${after.source === 'titles' ? 't' : 'm'}${after.below}`
        const row = sid === null ? undefined : sessionBySid.get(sid)
        if (sid !== null && row !== undefined)
          found.push({ session: readSession(row).session, hits: rows.hits(query, sid) })
        if (performance.now() > until) return { found, next, isComplete }
        await nextTurn()
      }
      return { found, next: null, isComplete }
    },
  }
}

function placeOf(before: string | undefined): Place | null {
  if (before === undefined) return { source: 'titles', below: Number.MAX_SAFE_INTEGER }
  const [, source, below] = /^([tm])(\d{1,15})$/.exec(before) ?? []
  return source === undefined ? null : { source: source === 't' ? 'titles' : 'messages', below: Number(below) }
}

/** Gives each session once, with the place where the search goes on after it. `sid` is null when a look has found no other. */
function* findSessions(
  rows: FoundRows,
  query: SearchQuery,
  start: Place,
): Generator<{ sid: number | null; after: Place }> {
  const seen = new Set<number>()
  /** On this page or an earlier one. */
  function isNew(source: Source, sid: number): boolean {
    if (seen.has(sid)) return false
    seen.add(sid)
    if (source === 'titles') return true
    const earlier = start.source === 'messages' ? start.below : Number.MAX_SAFE_INTEGER
    const isShown =
      rows.titles(query, { above: sid, below: sid + 1, sid }, 1).length > 0 ||
      rows.messages(query, { above: earlier, below: Number.MAX_SAFE_INTEGER, sid }, 1).length > 0
    return !isShown
  }

  for (const source of ['titles', 'messages'] as const) {
    if (source === 'titles' && start.source === 'messages') continue
    let below = Math.min(rows.last(source) + 1, source === start.source ? start.below : Number.MAX_SAFE_INTEGER)
    let window = FIRST_WINDOW
    while (below > 1) {
      const begun = performance.now()
      const above = Math.max(1, below - window)
      const found = rows[source](query, { above, below }, MOST_ROWS)
      if (performance.now() - begun < QUICK_MS) window *= 4
      for (const { row, sid } of found) if (isNew(source, sid)) yield { sid, after: { source, below: row } }
      below = found.length < MOST_ROWS ? above : (found.at(-1)?.row ?? above)
      yield { sid: null, after: { source, below } }
    }
  }
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
  titles(query: SearchQuery, range: Range, limit: number): { row: number; sid: number }[]
  messages(query: SearchQuery, range: Range, limit: number): { row: number; sid: number }[]
  hits(query: SearchQuery, sid: number): SearchHit[]
}

function createFoundRows(db: DatabaseSync): FoundRows {
  const visible = `sessions.unlisted = 0 AND sessions.status <> 'terminated' AND (?4 IS NULL OR sessions.owner = ?4)
     AND (?5 IS NULL OR sessions.agent = ?5)`
  // CROSS: the index comes first, and then the rows that it names.
  const titles = db.prepare(
    `SELECT sessions.sid AS number, sessions.sid FROM search_words CROSS JOIN sessions ON sessions.sid = -search_words.rowid
     WHERE search_words MATCH ?1 AND search_words.rowid <= -?2 AND search_words.rowid > -?3 AND ${visible}
     AND (?6 IS NULL OR sessions.created_at >= ?6) AND (?7 IS NULL OR sessions.created_at <= ?7)
     ORDER BY search_words.rowid LIMIT ?8`,
  )
  const messages = db.prepare(
    `SELECT messages.mid AS number, messages.sid FROM search_words CROSS JOIN messages ON messages.mid = search_words.rowid
     CROSS JOIN sessions ON sessions.sid = messages.sid
     WHERE search_words MATCH ?1 AND search_words.rowid >= ?2 AND search_words.rowid < ?3 AND ${visible}
     AND messages.superseded_by IS NULL AND (?6 IS NULL OR messages.created_at >= ?6) AND (?7 IS NULL OR messages.created_at <= ?7)
     ORDER BY search_words.rowid DESC LIMIT ?8`,
  )
  const lastSession = db.prepare('SELECT max(sid) AS last FROM sessions')
  const lastMessage = db.prepare('SELECT max(mid) AS last FROM messages')
  const message = db.prepare('SELECT * FROM messages WHERE mid = ?')
  const session = db.prepare('SELECT created_at, supervision FROM sessions WHERE sid = ?')

  const read =
    (statement: typeof titles) =>
    (query: SearchQuery, { above, below, sid }: Range, limit: number) => {
      const { terms, owner = null, agent = null, since = null, until = null } = query
      const found = statement.all(matching(terms, { owner, sid }), above, below, owner, agent, since, until, limit)
      return found.map((row) => ({ row: Number(row.number), sid: Number(row.sid) }))
    }

  const found: Pick<FoundRows, Source> = { titles: read(titles), messages: read(messages) }
  return {
    ...found,
    last: (source) => Number((source === 'titles' ? lastSession : lastMessage).get()?.last ?? 0),
    hits(query, sid) {
      const { terms } = query
      const ofTitle = found.titles(query, { above: sid, below: sid + 1, sid }, 1).flatMap((): SearchHit[] => {
        const row = session.get(sid)
        if (row?.supervision == null) return []
        const text = searchedSupervision(JSON.parse(String(row.supervision)) as Supervision)
        return [{ messageId: null, role: null, at: Number(row.created_at), ...excerptOf(terms, text) }]
      })
      const all = { above: 1, below: Number.MAX_SAFE_INTEGER, sid }
      const ofMessages = found.messages(query, all, HITS_OF_A_SESSION).flatMap(({ row }): SearchHit[] => {
        const stored = message.get(row)
        if (stored === undefined) return []
        const { id, role, createdAt, ...rest } = toMessage(stored)
        return [{ messageId: id, role, at: createdAt, ...excerptOf(terms, searchedText({ role, ...rest }) ?? '') }]
      })
      return [...ofTitle, ...ofMessages]
    },
  }
}

const wordOfSession = (sid: number): string => `s${sid}`
const wordOfOwner = (owner: string): string => `o${createHash('sha256').update(owner).digest('hex').slice(0, 16)}`

/** The query in the words of FTS5. Words are letters and digits, so nothing in them can be its syntax. */
function matching(
  terms: readonly SearchTerm[],
  { owner, sid }: { owner: string | null; sid: number | undefined },
): string {
  const body = terms.map(({ words, isPrefix }) => `"${words.join(' ')}"${isPrefix ? ' *' : ''}`).join(' AND ')
  const places = [...(owner === null ? [] : [wordOfOwner(owner)]), ...(sid === undefined ? [] : [wordOfSession(sid)])]
  return [`body : (${body})`, ...places.map((place) => `place : "${place}"`)].join(' AND ')
}

/** Brings the index up to date, step by step. */
export interface SearchIndexRows {
  /** Indexes about `chars` characters of text, and says whether something is left. Call it in a transaction. */
  step(chars: number): boolean
  /** Forgets everything, so that it is indexed again. */
  clear(): void
}

export function createSearchIndexRows(db: DatabaseSync): SearchIndexRows {
  const dueMessages = db.prepare(
    `SELECT messages.*, sessions.owner FROM messages JOIN sessions USING (sid)
     WHERE mid > (SELECT indexed_to FROM search_state WHERE only = 1) ORDER BY mid LIMIT 50`,
  )
  const dueTitles = db.prepare(
    'SELECT sid, owner, supervision FROM search_due JOIN sessions USING (sid) WHERE supervision IS NOT NULL LIMIT 50',
  )
  const add = db.prepare('INSERT INTO search_words (rowid, body, place) VALUES (?, ?, ?)')
  const forget = db.prepare('DELETE FROM search_words WHERE rowid = ?')
  const indexedTo = db.prepare('UPDATE search_state SET indexed_to = ? WHERE only = 1')
  const settle = db.prepare('DELETE FROM search_due WHERE sid = ?')

  return {
    step(chars) {
      let left = chars
      function put(row: number, text: string | null, sid: number, owner: string): void {
        left -= 100 + (text?.length ?? 0)
        if (text === null || text === '') return
        add.run(row, indexedText(text), `${wordOfSession(sid)} ${wordOfOwner(owner)}`)
      }
      for (const { sid, owner, supervision } of dueTitles.all()) {
        const text = searchedSupervision(JSON.parse(String(supervision)) as Supervision)
        forget.run(-Number(sid))
        put(-Number(sid), text, Number(sid), String(owner))
        settle.run(sid ?? null)
        if (left <= 0) return true
      }
      const found = dueMessages.all()
      for (const row of found) {
        put(Number(row.mid), searchedText(toMessage(row)), Number(row.sid), String(row.owner))
        indexedTo.run(row.mid ?? null)
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
