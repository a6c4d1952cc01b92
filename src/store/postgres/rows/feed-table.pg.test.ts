import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../../test/postgres/test-database.ts'
import type { FeedItem } from '../../../domain/session/feed.ts'
import { accept, create, done, finish, newSession } from '../../contract/samples.contract.ts'
import type { PostgresStore } from '../postgres-store.ts'
import { openTestPostgres } from '../testing/open-postgres.ts'

let server: TestDatabase
let stores: PostgresStore[] = []

beforeAll(async () => {
  server = await openTestDatabase()
  const open = () => openTestPostgres(server.url)
  stores = [await open(), await open(), await open()]
})

afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await server.drop()
})

/** Follows the feed until it has seen this many items. */
async function follow(store: PostgresStore, count: number): Promise<FeedItem[]> {
  const seen: FeedItem[] = []
  while (seen.length < count) seen.push(...(await store.feed.items(seen.at(-1)?.n ?? 0, 7)))
  return seen
}

test('readers at several processes see the same items in the same order, while all of them write', async () => {
  const SESSIONS = 6
  async function work(store: PostgresStore): Promise<void> {
    for (let i = 0; i < SESSIONS; i += 1) {
      const session = newSession()
      await done(store, create(session))
      const { run } = await done(store, accept(session))
      if (run === undefined) throw new Error('accept_run returned no run')
      await done(store, finish(run))
    }
  }
  const total = stores.length * SESSIONS * 3
  const [, ...read] = await Promise.all([Promise.all(stores.map(work)), ...stores.map((store) => follow(store, total))])

  const [first = []] = read
  for (const other of read) expect(other).toEqual(first)
  expect(first.map(({ n }) => n)).toEqual(Array.from({ length: total }, (_, i) => i + 1))
  for (const id of new Set(first.map(({ sessionId }) => sessionId))) {
    const own = first.filter(({ sessionId }) => sessionId === id).map(({ kind, status }) => `${kind} ${status}`)
    expect(own).toEqual(['session active', 'run running', 'run completed'])
  }
})
