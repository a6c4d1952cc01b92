// Keeps the search index up to date, apart from the commits: they would have to wait for it. Every process on the database works on
// it. A row of `search_due` is claimed by one of them, and comes back if that one dies.

import type { Clock } from '../../domain/clock.ts'
import { searchedSupervision, searchedText } from '../../domain/session/search-words.ts'
import type { Supervision } from '../../domain/supervision/supervision.ts'
import type { SearchReads } from '../ports/search.ts'
import { type MessageRow, placeOf, toMessage } from '../tables/messages.ts'
import { indexing, type Source } from '../tables/search.ts'
import type { Statement } from '../tables/statement.ts'
import { columnsOf } from './commit/batch.ts'
import { MOST_BYTES, withinBytes } from './rows/bounded-rows.ts'
import { MESSAGE_COLUMNS } from './rows/message-table.ts'
import { wordsOf } from './rows/search-table.ts'
import type { Sql } from './sql.ts'

/** Texts of one step, or fewer if they are long. */
const STEP_ROWS = 32

/** What a process has claimed and not finished after this time, it will not finish any more. */
const CLAIM = "interval '30 seconds'"

const claim: Statement = {
  name: 'search_claim',
  text: `WITH picked AS (
      SELECT session, source, message_id FROM search_due WHERE claimed_at IS NULL OR claimed_at < now() - ${CLAIM}
      LIMIT $1 FOR UPDATE SKIP LOCKED),
    few AS (${withinBytes({
      rows: `SELECT picked.*, coalesce(octet_length(content), 0) + coalesce(octet_length(extra), 0) AS bytes
        FROM picked LEFT JOIN messages ON source = 'm' AND messages.session = picked.session AND messages.id = message_id`,
      columns: 'session, source, message_id',
      bytes: 'bytes',
      order: 'session, source, message_id',
      limit: String(MOST_BYTES),
    })}),
    claimed AS (
      UPDATE search_due AS due SET claimed_at = now() FROM few
      WHERE due.session = few.session AND due.source = few.source AND due.message_id = few.message_id
      RETURNING due.session, due.source, due.message_id, due.v)
    SELECT claimed.session, claimed.source, claimed.message_id, claimed.v, sessions.owner, sessions.ord,
      CASE WHEN claimed.source = 't' THEN sessions.supervision END,
      ${MESSAGE_COLUMNS.split(', ')
        .map((column) => `messages.${column}`)
        .join(', ')}
    FROM claimed LEFT JOIN sessions ON sessions.id = claimed.session
    LEFT JOIN messages ON claimed.source = 'm' AND messages.session = claimed.session AND messages.id = claimed.message_id`,
}

type ClaimedRow = [
  session: string,
  source: Source,
  messageId: string,
  v: number,
  owner: string | null,
  ord: number | null,
  supervision: string | null,
  ...message: unknown[],
]

/** One statement: what has changed since it was claimed, or is gone, stays as it is. A row without words is not indexed. */
const index: Statement = {
  name: 'search_index',
  text: `WITH claimed AS (
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
        AS row (session, source, message_id, v, ord, words)),
    done AS (
      DELETE FROM search_due AS due USING claimed
      WHERE due.session = claimed.session AND due.source = claimed.source AND due.message_id = claimed.message_id
        AND due.v = claimed.v
      RETURNING claimed.*)
    INSERT INTO search_words (session, source, message_id, ord, words)
    SELECT session, source, message_id, ord, array_to_tsvector(string_to_array(words, ' ')) FROM done WHERE words <> ''
    ON CONFLICT (session, source, message_id) DO UPDATE SET ord = excluded.ord, words = excluded.words`,
}

/** `sql` commits each statement. Calls `failed` with errors of the database. */
export function createSearchIndexer(deps: {
  sql: Sql
  clock: Pick<Clock, 'mono' | 'after'>
  failed: (error: unknown) => void
}) {
  const { sql, clock, failed } = deps
  let cancel: (() => void) | null = null
  let isClosed = false
  /** Steps follow each other, so a search also sees what a step before it has claimed. */
  let last: Promise<unknown> = Promise.resolve()

  /** Returns how many texts it took. Never rejects: a search can use what is indexed. */
  function step(): Promise<number> {
    const next = last.then(async () => {
      if (isClosed) return 0
      try {
        const claimed = await sql.rows<ClaimedRow>(claim, [STEP_ROWS])
        if (claimed.length > 0) await sql.rows(index, valuesOf(claimed))
        return claimed.length
      } catch (error) {
        failed(error)
        schedule(indexing.retryMs)
        return 0
      }
    })
    last = next
    return next
  }

  function schedule(ms: number): void {
    if (isClosed || cancel !== null) return
    cancel = clock.after(ms, () => {
      cancel = null
      void work()
    })
  }

  async function work(): Promise<void> {
    const begun = clock.mono()
    const taken = await step()
    if (taken > 0) schedule((clock.mono() - begun) / indexing.share)
  }

  schedule(indexing.soonMs)

  return {
    /** Something was committed. It is indexed soon. */
    noticeCommit: (): void => schedule(indexing.soonMs),
    /** The same search, in an index that is brought up to date first, as far as that goes in a short time. */
    searched: ({ find }: SearchReads): SearchReads => ({
      async find(query) {
        const until = clock.mono() + indexing.catchUpMs
        while ((await step()) > 0 && clock.mono() < until);
        return find(query)
      },
    }),
    /** Waits for the step that is under way. */
    async close(): Promise<void> {
      isClosed = true
      cancel?.()
      cancel = null
      await last
    },
  }
}

function valuesOf(claimed: readonly ClaimedRow[]): unknown[][] {
  const rows = claimed.map((row) => {
    const [session, source, messageId, v, owner, sessionOrd, supervision, ...message] = row
    const { text, ord } = source === 't' ? titleOf(supervision, sessionOrd) : messageOf(message)
    const words = owner === null || ord === null || text === null ? '' : wordsOf({ source, ord, owner, text })
    return [session, source, messageId, v, ord ?? 0, words]
  })
  return columnsOf(rows)
}

/** Without a title there is still a row, which takes the place of an older title. */
const titleOf = (supervision: string | null, ord: number | null) => ({
  text: supervision === null ? '' : searchedSupervision(JSON.parse(supervision) as Supervision),
  ord,
})

function messageOf(stored: readonly unknown[]): { text: string | null; ord: number | null } {
  if (stored[0] === null) return { text: null, ord: null }
  const row = stored as unknown as MessageRow
  return { text: searchedText(toMessage(row)) || null, ord: placeOf(row) }
}
