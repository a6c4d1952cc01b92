// A log of many entries is compacted and imported in one transaction. Postgres ends a transaction in which nothing happens for a few
// seconds, so the work between two statements must be short. Here it may take a fraction of that.

import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../domain/clock.ts'
import { compactEntries } from '../../log/compact.ts'
import { done, newId, newRun, newSession } from '../contract/samples.contract.ts'
import type { StoredEntry } from '../ports/journal.ts'
import type { Connection } from './connection/connect.ts'
import { createStoreOn } from './postgres-store.ts'
import { connectTest, openTestPostgres, usualPostgres } from './testing/open-postgres.ts'

const ENTRIES = 100_000
/** In production it is 5 s. */
const IDLE_MS = 1_000
const CONNECT_MS = 100

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.drop())

/** The store on a Postgres that is in a hurry, or treats each connection as the test says. It tells how often it has connected. */
async function openHurried(waitMs: number, treat: (connection: Connection) => Connection | Promise<Connection>) {
  await (await openTestPostgres(database.url)).close()
  const real = connectTest(database.url)
  let connections = 0
  const hurried = {
    ...real,
    async connectWriter(patience?: number) {
      connections += 1
      return treat(await real.connectWriter(patience))
    },
  }
  // Its time passes with the connections: how busy the machine is decides nothing.
  const clock = { ...createSystemClock(), mono: () => connections * CONNECT_MS }
  return { store: await createStoreOn(hurried, usualPostgres({ clock, waitMs })), connections: () => connections }
}

const tokens = (runId: string): StoredEntry[] =>
  Array.from({ length: ENTRIES }, (_, i) => {
    // A new message now and then, so that there is something to join and something to keep.
    const data =
      i % 50 === 0
        ? { type: 'TEXT_MESSAGE_START', messageId: `m${i}`, role: 'assistant' }
        : { type: 'TEXT_MESSAGE_CONTENT', messageId: `m${i - (i % 50)}`, delta: `word${i} "ü" `, timestamp: i }
    return { seq: i + 1, runId, kind: 'event', data: JSON.stringify(data) }
  })

test('a log of 100,000 entries is imported, compacted and compacted again without a long pause in a transaction', async () => {
  const { store, connections } = await openHurried(10_000, async (connection) => {
    await connection.run(`SET idle_in_transaction_session_timeout = ${IDLE_MS}`)
    return connection
  })
  const session = newSession()
  const run = { ...newRun(session.id), status: 'completed' as const, finishedAt: 1 }
  const entries = tokens(run.id)
  const compacted = compactEntries(entries)
  const head = ENTRIES

  await done(store, { type: 'import_session', session, runs: [run], messages: [], entries })
  await done(store, { type: 'compact_session', sessionId: session.id, head, entries: compacted })
  await done(store, { type: 'compact_session', sessionId: session.id, head, entries: compacted })

  // Usually it is one. On a machine that is very busy, the server may pause for a second itself.
  expect(connections()).toBeLessThan(5)
  const kept = await store.entries(session.id, 0, ENTRIES)
  expect(digestOf(kept)).toBe(digestOf(compacted))
  await store.close()
})

test('a transaction that Postgres ends each time is given up in the end, and the next ones are done', async () => {
  const { store, connections } = await openHurried(300, (connection) => {
    const rows: Connection['rows'] = (statement, values) => {
      if (statement.name === 'insert_entries') connection.run(endOurselves).catch(() => {})
      return connection.rows(statement, values)
    }
    return Object.assign(Object.create(connection), { rows })
  })
  const session = newSession()
  const entries = tokens(newId())

  const importing = done(store, { type: 'import_session', session, runs: [], messages: [], entries })
  await expect(importing).rejects.toMatchObject({ code: 'storage_failed' })

  expect(connections()).toBe(5)
  expect(await store.sessions.get(session.id)).toBe(null)
  await store.close()
})

const endOurselves = 'SELECT pg_terminate_backend(pg_backend_pid())'

const digestOf = (entries: readonly StoredEntry[]): string => hash('sha256', JSON.stringify(entries))
