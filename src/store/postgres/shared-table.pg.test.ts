import { afterAll, beforeAll } from 'vitest'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../test/postgres/test-database.ts'
import { createSystemClock, sleep } from '../../domain/clock.ts'
import { describeShared } from '../shared.contract.ts'
import type { Database } from './connection/database.ts'
import { createDatabaseTime } from './connection/database-time.ts'
import { migrate } from './migrate.ts'
import { createPostgresShared } from './shared-table.ts'
import { connectTest } from './testing/open-postgres.ts'

const clock = createSystemClock()
let server: TestDatabase
let replicas: Database[] = []

beforeAll(async () => {
  server = await openTestDatabase()
  replicas = [1, 2].map(() => connectTest(server.url, { clock, readers: 4 }))
  for (const one of replicas) await migrate(one)
})

afterAll(async () => {
  await Promise.all(replicas.map((one) => one.close()))
  await server.drop()
})

describeShared('Postgres', async () => {
  const [one, other] = replicas
  if (one === undefined || other === undefined) throw new Error('the databases are open by now')
  await askOnce(server.url, 'TRUNCATE shared, counters')
  return {
    here: createPostgresShared(one.statements, clock, createDatabaseTime(one, clock)),
    there: createPostgresShared(other.statements, clock, createDatabaseTime(other, clock)),
    now: clock.now,
    pass: (ms) => sleep(clock, ms),
  }
})
