// The connection that a process commits on, and what has to happen on a new one before anything is written.

import type { Statement } from '../../tables/statement.ts'
import type { Connection } from '../connection/connect.ts'
import type { Database } from '../connection/database.ts'
import { useTables } from '../migrate.ts'
import { SEQ_BLOCK } from './heads.ts'
import { BETWEEN, type TextRow } from './text-group.ts'

/** What the database knows about this process. */
export interface Hello {
  connection: Connection
  /** The number of the last transaction that was committed, or one above `lastNumber`; and the answer of a text group. */
  n: number
  answer: string
}

/**
 * A server that was started again, or that recovered from a crash, has another generation. So has a standby that took over. Postgres
 * forgets its statistics in a crash, even if it does not start anew.
 */
const GENERATION = `extract(epoch FROM pg_postmaster_start_time())::text || ' ' ||
  coalesce((SELECT extract(epoch FROM stats_reset)::text FROM pg_stat_bgwriter), '')`

const hello: Statement = {
  name: 'writer_hello',
  text: `INSERT INTO writers (id, n) VALUES ($1, 0) ON CONFLICT (id) DO UPDATE SET at = now()
    RETURNING n, ${GENERATION} = (SELECT started FROM generations)`,
}

/**
 * The text after the last flush may be lost with the server, and readers have seen its seqs. So the log of each session with a running
 * run goes on after the seqs that are reserved on disk. Only the first process after the crash does it.
 */
const beginGeneration = [
  'BEGIN; SET LOCAL synchronous_commit = on; SELECT pg_advisory_xact_lock(1903518053)',
  `UPDATE heads SET head = greatest(head, ceiling) FROM (SELECT DISTINCT session FROM runs WHERE status = 'running') AS running
     WHERE heads.session = running.session AND NOT EXISTS (SELECT 1 FROM generations WHERE started = ${GENERATION})`,
  `INSERT INTO generations (started) VALUES (${GENERATION}) ON CONFLICT (only_row) DO UPDATE SET started = excluded.started`,
  'COMMIT',
].join(';\n')

/** Text of runs that are still ours, at the seqs that readers know. Other processes may have taken over the rest. */
const rewriteText: Statement = {
  name: 'rewrite_text',
  text: `WITH given AS (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], string_to_array($6, E'\\x1e'))
        AS g (session, run, fence, first_seq, last_seq, data)),
    moved AS (
      UPDATE heads SET head = greatest(heads.head, ends.last_seq) FROM (
        SELECT session, run, fence, max(last_seq) AS last_seq FROM given GROUP BY session, run, fence) AS ends
      WHERE heads.session = ends.session AND heads.run = ends.run AND heads.fence = ends.fence
      RETURNING heads.session, heads.run, heads.fence)
    INSERT INTO entries (session, last_seq, first_seq, run_id, data)
    SELECT given.session, last_seq, first_seq, given.run, data FROM given JOIN moved
      ON moved.session = given.session AND moved.run = given.run AND moved.fence = given.fence
    ON CONFLICT DO NOTHING`,
}

/** Nothing of this process is missing any more, so others may write to the sessions whose runs it executes. */
const settleHeads: Statement = {
  name: 'settle_heads',
  text: `WITH mine AS (
      SELECT heads.session FROM runs JOIN heads ON heads.session = runs.session AND heads.run = runs.id
      WHERE runs.lease_owner = $1 AND runs.status = 'running' AND heads.head = heads.ceiling
      ORDER BY heads.session FOR UPDATE OF heads)
    UPDATE heads SET ceiling = head + ${SEQ_BLOCK} FROM mine WHERE heads.session = mine.session`,
}

/**
 * Postgres does not notice at once that a connection is lost: a statement that waits for a lock goes on when it gets the lock. So nobody
 * knows whether transaction `$2` of the connection before is over. From here on it is: either it was committed, and this returns its
 * number, or it can never be, because every transaction checks that its number is above the last one.
 */
const endLastTransaction: Statement = {
  name: 'end_last_transaction',
  text: `UPDATE writers SET n = CASE WHEN n = $2 THEN n ELSE greatest(n, $2 + 1) END WHERE id = $1 RETURNING n, answer`,
}

const setNumber: Statement = { name: 'set_writer_number', text: 'UPDATE writers SET n = $2 WHERE id = $1' }

export interface WriterConnectionOptions {
  database: Database
  writerId: string
  unflushed: UnflushedText
  /** The number of the transaction that may still be under way on the connection before. */
  lastNumber: number
}

/** Connects, and makes good what a crash of the server took. Throws `storage_failed` after `waitMs`. */
export async function connectWriter(options: WriterConnectionOptions, waitMs?: number): Promise<Hello> {
  const { database, writerId, unflushed, lastNumber } = options
  const connection = await database.connectWriter(waitMs)
  try {
    await connection.rows(useTables)
    const [row] = await connection.rows<[number, boolean | null]>(hello, [writerId])
    const [stored, isSameGeneration] = row ?? [0, null]
    if (isSameGeneration !== true) await connection.run(beginGeneration)
    const lost = unflushed.after(stored)
    if (lost.length > 0) {
      await rewrite(connection, lost, writerId, unflushed.lastNumber)
      unflushed.clear()
    }
    await connection.rows(settleHeads, [writerId])
    const [ended] = await connection.rows<[number, string]>(endLastTransaction, [writerId, lastNumber])
    const [n, answer] = ended ?? [lastNumber + 1, '']
    return { connection, n, answer }
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/** A row of text as it was written. */
export interface WrittenText extends TextRow {
  lastSeq: number
}

async function rewrite(
  connection: Connection,
  lost: readonly WrittenText[],
  writerId: string,
  n: number,
): Promise<void> {
  await connection.run('BEGIN; SET LOCAL synchronous_commit = on')
  await connection.rows(rewriteText, [
    lost.map(({ session }) => session),
    lost.map(({ run }) => run),
    lost.map(({ fence }) => fence),
    lost.map(({ lastSeq, count }) => lastSeq - count + 1),
    lost.map(({ lastSeq }) => lastSeq),
    lost.map(({ data }) => data).join(BETWEEN),
  ])
  await connection.rows(setNumber, [writerId, n])
  await connection.run('COMMIT')
}

export type UnflushedText = ReturnType<typeof createUnflushedText>

/** Text that was committed and may not be on disk yet. It is written again if the server loses it. */
export function createUnflushedText() {
  let groups: { n: number; rows: readonly WrittenText[]; at: number }[] = []
  return {
    add: (n: number, rows: readonly WrittenText[], at: number): void => void groups.push({ n, rows, at }),
    /** The text of transactions after number `n`. */
    after: (n: number): WrittenText[] => groups.filter((group) => group.n > n).flatMap(({ rows }) => rows),
    /** The number of the last transaction with text. */
    get lastNumber(): number {
      return groups.at(-1)?.n ?? 0
    },
    /** Since when (monotonic) there is text that may not be on disk; null if there is none. */
    get since(): number | null {
      return groups[0]?.at ?? null
    },
    /** Everything is on disk. */
    clear(): void {
      groups = []
    },
  }
}
