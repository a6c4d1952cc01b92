// The statements of the hot path touch the rows of the sessions they name, however many others there are.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../../test/postgres/test-database.ts'
import {
  accept,
  acceptedRun,
  append,
  commit,
  done,
  finish,
  newMessage,
  newSession,
  text,
} from '../../contract/samples.contract.ts'
import type { PostgresStore } from '../postgres-store.ts'
import { openTestPostgres } from '../testing/open-postgres.ts'

let database: TestDatabase
let store: PostgresStore

beforeAll(async () => {
  database = await openTestDatabase()
  store = await openTestPostgres(database.url)
  // Enough rows of others to make every scan of a table visible.
  await askOnce(
    database.url,
    `INSERT INTO heads SELECT 'other ' || i, 1, 1, 'run ' || i, 1 FROM generate_series(1, 20000) i;
     INSERT INTO routes SELECT 'run', 'run ' || i, 'other ' || i FROM generate_series(1, 20000) i;
     INSERT INTO entries SELECT 'other ' || i, 1, 1, 'run ' || i, '{}', NULL FROM generate_series(1, 20000) i;
     INSERT INTO sessions (id, owner, agent, status, created_at, last_activity, metadata, message_count, unlisted, compacted)
       SELECT 'other ' || i, 'bob', 'a', 'active', 1, i, '{}', 0, false, true FROM generate_series(1, 20000) i;
     INSERT INTO messages (session, id, role, content, run_id, created_at)
       SELECT 'other ' || i, 'm', 'user', 'hi', 'run ' || i, 1 FROM generate_series(1, 20000) i;
     ANALYZE`,
  )
})

afterAll(async () => {
  await store.close()
  await database.drop()
})

/** Rows that were read from these tables since the last call, by scans of whole tables. */
async function scanned(): Promise<Record<string, unknown>[]> {
  await askOnce(database.url, 'SELECT pg_stat_clear_snapshot()')
  return askOnce(
    database.url,
    `SELECT relname, seq_tup_read::int AS rows FROM pg_stat_user_tables
     WHERE relname IN ('heads', 'routes', 'entries', 'sessions', 'messages', 'runs', 'waits') ORDER BY relname`,
  )
}

test('a conversation reads no table as a whole', async () => {
  // Counters of other connections arrive when those are idle for a while, or end.
  const settled = async () => {
    await store.close()
    store = await openTestPostgres(database.url)
    return scanned()
  }
  const before = await settled()
  const sessions = Array.from({ length: 5 }, () => newSession({ alias: crypto.randomUUID() }))
  for (const session of sessions) {
    const run = await acceptedRun(store, accept(session, { start: { messages: [newMessage(crypto.randomUUID())] } }))
    await commit(store, append(run, [text('a')]), append(run, [text('b')]))
    await done(store, append(run, [text('c')], { sync: true }))
    await done(store, finish(run, { messages: [newMessage(crypto.randomUUID(), { role: 'assistant' })] }))
    await done(store, accept(session))
  }

  expect(await settled()).toEqual(before)
})
