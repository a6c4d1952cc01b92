import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../domain/clock.ts'
import type { ReaderRows } from '../ports/reader-rows.ts'
import type { Database } from './connection/database.ts'
import { createDatabaseTime } from './connection/database-time.ts'
import { migrate } from './migrate.ts'
import { createReaderRows } from './reader-rows.ts'
import { connectTest } from './testing/open-postgres.ts'

const HOUR_MS = 3_600_000
let server: TestDatabase
let database: Database
let rows: ReaderRows

beforeAll(async () => {
  server = await openTestDatabase()
  database = connectTest(server.url, { readers: 2 })
  await migrate(database)
  rows = createReaderRows(database.statements, createDatabaseTime(database, createSystemClock()).nowForOthers)
})

afterAll(async () => {
  await database.close()
  await server.drop()
})

beforeEach(async () => {
  await askOnce(server.url, 'TRUNCATE readers, leases')
})

/** Leases by owner; each ends so many ms from now, by the database's clock. */
async function lease(owners: Record<string, number>): Promise<void> {
  for (const [owner, ms] of Object.entries(owners)) {
    await askOnce(
      server.url,
      `INSERT INTO leases (owner, until) VALUES ('${owner}', (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${ms})`,
    )
  }
}

const sorted = <T>(list: readonly T[]): T[] => list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

test('the readers of other live replicas are found, in the sessions that were asked for', async () => {
  await lease({ a: 9_000, b: 9_000, dead: -1 })
  const [run, whole, other] = [
    { sessionId: 's1', runId: 'r1' },
    { sessionId: 's2', runId: null },
    { sessionId: 's3', runId: 'r3' },
  ]
  await rows.change('b', [run, whole, other], [])
  await rows.change('a', [{ sessionId: 's1', runId: 'mine' }], [])
  await rows.change('dead', [{ sessionId: 's1', runId: 'r9' }], [])

  expect(sorted(await rows.readElsewhere('a', ['s1', 's2']))).toEqual([run, whole])
  expect(await rows.others('a')).toEqual(['b'])
  expect(await rows.readElsewhere('a', [])).toEqual([])
})

test('saying the same twice changes nothing, and rows are removed one by one', async () => {
  await lease({ b: 9_000 })
  const [one, two] = [
    { sessionId: 's', runId: 'r' },
    { sessionId: 's', runId: null },
  ]
  await rows.change('b', [one, two], [])
  await rows.change('b', [one], [])
  await rows.change('b', [], [two])
  await rows.change('b', [], [two])

  expect(await rows.readElsewhere('a', ['s'])).toEqual([one])
})

test('what dead replicas left is removed after an hour, and not before: they may only have been paused', async () => {
  await lease({ live: 9_000, paused: -60_000, dead: -HOUR_MS - 1_000 })
  for (const replica of ['live', 'paused', 'dead', 'unknown']) {
    await rows.change(replica, [{ sessionId: 's', runId: replica }], [])
  }

  await rows.tidy()

  const left = await askOnce(server.url, 'SELECT replica FROM readers ORDER BY replica')
  expect(left).toEqual([{ replica: 'live' }, { replica: 'paused' }])
  expect(await askOnce(server.url, 'SELECT owner FROM leases ORDER BY owner')).toEqual([
    { owner: 'live' },
    { owner: 'paused' },
  ])
})
