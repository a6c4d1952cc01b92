// A database may have other defaults than Postgres itself. The store must not depend on them.

import { expect, onTestFinished, test } from 'vitest'
import { askOnce, openTestDatabase } from '../../../test/postgres/test-database.ts'
import { accept, acceptedRun, append, done, finish, newSession, text } from '../contract/samples.contract.ts'
import { openTestPostgres } from './testing/open-postgres.ts'

test('two processes work on a database whose transactions are serializable by default', async () => {
  const database = await openTestDatabase()
  onTestFinished(() => database.drop())
  const name = new URL(database.url).pathname.slice(1)
  await askOnce(database.url, `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`)
  const open = () => openTestPostgres(database.url)
  const stores = [await open(), await open()]
  const session = newSession()
  const [a] = stores
  if (a === undefined) throw new Error('There is no store.')
  await done(a, finish(await acceptedRun(a, accept(session))))

  for (let i = 0; i < 10; i += 1) {
    await Promise.all(
      stores.flatMap((store) => [
        done(store, accept(session, { maxQueued: 1_000 })),
        acceptedRun(store, accept(newSession())).then((run) => done(store, append(run, [text('a')]))),
        store.feed.items(0, 1_000),
        store.shared.count('tries', [{ key: 'k', n: 1 }], 60_000),
      ]),
    )
  }

  const items = await a.feed.items(0, 1_000)
  expect(items.map(({ n }) => n)).toEqual(items.map((_, i) => i + 1))
  expect(await a.shared.count('tries', [{ key: 'k', n: 1 }], 60_000)).toMatchObject([{ count: 21 }])
  for (const store of stores) await store.close()
})
