import { afterAll } from 'vitest'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../test/postgres/test-database.ts'
import { MAIN_CHAIN } from '../../domain/supervision/audit.ts'
import { describeStore } from '../store.contract.ts'
import type { Connection } from './connection/connect.ts'
import type { Database } from './connection/database.ts'
import { migrate } from './migrate.ts'
import { createStoreOn, type PostgresStore } from './postgres-store.ts'
import { connectTest, usualPostgres } from './testing/open-postgres.ts'

/** A new connection takes long until it has planned its statements, so the tests share a few. Each test has a store of its own on them. */
interface Kept extends TestDatabase {
  database: Database
  empty(): Promise<unknown>
}

/** A few tests need two stores at a time. */
const made: Kept[] = []
const free: Kept[] = []

afterAll(async () => {
  for (const { database, drop } of made) {
    await database.close()
    await drop()
  }
})

async function takeDatabase(): Promise<Kept> {
  const known = free.pop()
  if (known !== undefined) return known
  const { url, drop } = await openTestDatabase()
  const database = connectTest(url)
  await migrate(database)
  await askOnce(url, await emptyFunction(url))
  const kept = { url, drop, database, empty: () => database.statements.rows({ name: 'empty', text: 'SELECT empty()' }) }
  made.push(kept)
  return kept
}

/** The same connections for one store after the other. */
function lent({ database }: Kept): Database {
  return {
    ...database,
    get isUp() {
      return database.isUp
    },
    async connectWriter(waitMs) {
      const known = writers.get(database)
      const writer = known?.isOpen === true ? known : await database.connectWriter(waitMs)
      writers.set(database, writer)
      return { ...writer, isOpen: true, async close() {} }
    },
    async close() {},
  }
}

const writers = new WeakMap<Database, Connection>()

describeStore('Postgres', async () => {
  const kept = await takeDatabase()
  let store: PostgresStore

  async function open(): Promise<PostgresStore> {
    // The name of the chain that the suite reads.
    store = await createStoreOn(lent(kept), usualPostgres({ writerId: MAIN_CHAIN }))
    return store
  }

  return {
    store: await open(),
    async reopen() {
      await store.close()
      return open()
    },
    async discard() {
      await store.close()
      await kept.empty()
      free.push(kept)
    },
  }
})

/** Removes all rows. Its statements are planned once, and that is quicker than TRUNCATE for a few rows. */
async function emptyFunction(url: string): Promise<string> {
  const tables = await askOnce(
    url,
    `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('schema_versions', 'generations')`,
  )
  return `ALTER TABLE audit DISABLE TRIGGER ALL;
    CREATE FUNCTION empty() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
      SET LOCAL synchronous_commit = off;
      ${tables.map(({ tablename }) => `DELETE FROM ${tablename};`).join('\n')}
      PERFORM setval('audit_places', 1, false);
    END $$`
}
