import { expect, inject, onTestFinished, test } from 'vitest'
import { askOnce, openTestDatabase } from '../../../test/postgres/test-database.ts'
import { collectLines, type LogLine } from '../../http/testing/server-fixture.ts'
import { accept, create, done, newSession } from '../contract/samples.contract.ts'
import type { Database } from './connection/database.ts'
import { migrate, planMigration } from './migrate.ts'
import { type Migration, migrations } from './schema.ts'
import { connectTest, openTestPostgres } from './testing/open-postgres.ts'

async function open(): Promise<{ url: string; connect: () => Database }> {
  const { url, drop } = await openTestDatabase()
  const opened: Database[] = []
  onTestFinished(async () => {
    for (const database of opened) await database.close()
    await drop()
  })
  const connect = () => {
    const database = connectTest(url)
    opened.push(database)
    return database
  }
  return { url, connect }
}

const to = migrations.length

/** What later releases may bring. */
const adds: Migration = { title: 'a column', since: '8.0.0', sql: 'ALTER TABLE sessions ADD COLUMN later text' }
const takesAway: Migration = {
  title: 'no column',
  since: '9.0.0',
  sql: 'ALTER TABLE sessions DROP COLUMN last_tool',
  needs: to + 1,
}

test('a plan names what is missing and changes nothing, and a migration does it once', async () => {
  const { url, connect } = await open()
  const database = connect()

  expect(await planMigration(database)).toEqual({ from: 0, to, missing: migrations, unknown: 0, shutOut: 0 })
  expect(await askOnce(url, `SELECT to_regclass('sessions') AS t`)).toEqual([{ t: null }])
  expect(await migrate(database)).toEqual({ from: 0, to, missing: migrations, unknown: 0, shutOut: 0 })
  expect(await migrate(database)).toEqual({ from: to, to, missing: [], unknown: 0, shutOut: 0 })
  expect(await planMigration(database)).toEqual({ from: to, to, missing: [], unknown: 0, shutOut: 0 })
  expect(await askOnce(url, 'SELECT n::int FROM schema_versions')).toEqual(migrations.map((_, i) => ({ n: i + 1 })))
})

test('a record that was decided before keeps the time of its decision, whatever else it says', async () => {
  const { url, connect } = await open()
  const place = migrations.findIndex(({ title }) => title === 'when records were decided')
  await migrate(connect(), { known: migrations.slice(0, place) })
  const texts = ['a NUL \0, half a \ud83d', '\\u0000 \\\0', 'It is "decidedAt":34']
  const data = JSON.stringify({ arguments: { decidedAt: 12, texts }, decidedAt: 1_800_000_000_000 })
  await askOnce(
    url,
    `INSERT INTO waits (session, id, run_id, owner, kind, status, created_at, data, unapplied)
      SELECT 's', status, 'r', 'ann', 'approval', status, 1, data, false FROM (VALUES
        ('rejected', $text$${data}$text$), ('pending', '{"decidedAt":null}'), ('waiting', '{}')) AS given (status, data)`,
  )

  await migrate(connect())

  expect(await askOnce(url, 'SELECT id, decided_at::text AS at FROM waits ORDER BY at')).toEqual([
    { id: 'rejected', at: '1800000000000' },
    { id: 'pending', at: null },
    { id: 'waiting', at: null },
  ])
})

test('several processes that start at once migrate once', async () => {
  const { url, connect } = await open()

  const plans = await Promise.all([connect(), connect(), connect(), connect()].map((one) => migrate(one)))

  expect(plans.filter(({ from }) => from === 0).length).toBe(1)
  expect(await askOnce(url, 'SELECT count(*)::int AS n FROM schema_versions')).toEqual([{ n: to }])
})

test('a change waits a minute for tables that servers use, and no longer', async () => {
  const { url, connect } = await open()
  const noted: Migration = {
    title: 'its limit',
    since: '8.0.0',
    sql: `CREATE TABLE noted AS SELECT current_setting('lock_timeout') AS wait`,
  }

  await migrate(connect(), { known: [...migrations, noted] })

  expect(await askOnce(url, 'SELECT wait FROM noted')).toEqual([{ wait: '1min' }])
})

test('an older program starts on a database to which newer ones have only added', async () => {
  const { connect } = await open()
  await migrate(connect(), { known: [...migrations, adds] })

  const plan = { from: to + 1, to: to + 1, missing: [], unknown: 1, shutOut: 0 }
  expect(await planMigration(connect())).toEqual(plan)
  expect(await migrate(connect())).toEqual(plan)
})

test('a server goes on while a newer program adds to its tables, and starts again after it', async () => {
  const { url, connect } = await open()
  const lines: LogLine[] = []
  const start = () => openTestPostgres(url, { log: collectLines(lines) })
  const running = await start()
  await done(running, create(newSession({ id: 'before' })))
  await migrate(connect(), { known: [...migrations, adds] })

  await done(running, accept(newSession({ id: 'during' })))
  await running.close()
  const again = await start()
  await done(again, accept(newSession({ id: 'after' })))
  const ids = (await again.sessions.list({ limit: 10 })).map(({ id }) => id)
  await again.close()

  expect(ids.toSorted()).toEqual(['after', 'before', 'during'])
  expect(lines).toEqual([
    {
      level: 'warn',
      message: 'a newer version has changed the database; this one can still use it, and should be updated',
      database_version: to + 1,
      known_version: to,
    },
  ])
})

test('a program is refused if the database has lost something that it uses, and told which version it takes', async () => {
  const { url, connect } = await open()
  const database = connect()
  await migrate(database, { known: [...migrations, adds, takesAway] })

  for (const start of [migrate, planMigration]) {
    await expect(start(database)).rejects.toMatchObject({
      code: 'data_dir_newer',
      message: `The database is at version ${to + 2}, and a program must know version ${to + 1} to use it. This Quarterdeck knows versions up to ${to}. Use Quarterdeck 8.0.0 or a newer one.`,
      details: { found: to + 2, supported: to, needed: to + 1 },
    })
  }
  // It has stopped using what is gone.
  expect(await migrate(database, { known: [...migrations, adds] })).toMatchObject({ from: to + 2, unknown: 1 })
  expect(await askOnce(url, 'SELECT since, needs::int FROM schema_versions ORDER BY n DESC LIMIT 2')).toEqual([
    { since: '9.0.0', needs: to + 1 },
    { since: '8.0.0', needs: null },
  ])
})

test('nothing is taken away while a server runs that still uses it, unless somebody forces it', async () => {
  const { url, connect } = await open()
  const start = () => openTestPostgres(url)
  const versions = () => askOnce(url, 'SELECT max(n)::int AS n FROM schema_versions')
  const known = [...migrations, adds, takesAway]
  const running = [await start(), await start()]
  const newer = connect()

  expect(await planMigration(newer, known)).toMatchObject({ from: to, to: to + 2, shutOut: 2 })
  await expect(migrate(newer, { known })).rejects.toMatchObject({
    code: 'data_dir_locked',
    message: `2 servers run that cannot use the database any more once it is at version ${to + 2}. Nothing was changed. Stop such servers, or upgrade them to the version in between first. To change the database all the same, run quarterdeck migrate --force`,
  })
  expect(await versions()).toEqual([{ n: to }])
  // Servers that it does not shut out do not matter.
  expect(await migrate(newer, { known: [...migrations, adds] })).toMatchObject({ to: to + 1, shutOut: 0 })

  await running[0]?.close()
  await expect(migrate(newer, { known })).rejects.toMatchObject({ details: { servers: 1 } })
  expect(await migrate(newer, { known, force: true })).toMatchObject({ from: to + 1, to: to + 2, shutOut: 1 })
  expect(await versions()).toEqual([{ n: to + 2 }])
  await running[1]?.close()
})

test('what a server used is taken away as soon as it has stopped', async () => {
  const { url, connect } = await open()
  const running = await openTestPostgres(url)
  await running.close()

  expect(await migrate(connect(), { known: [...migrations, adds, takesAway] })).toMatchObject({ shutOut: 0 })
})

test('programs of two versions that start at once on an empty database both come up', async () => {
  const { url, connect } = await open()
  const newer = [...migrations, adds]

  await Promise.all([
    migrate(connect()),
    migrate(connect(), { known: newer }),
    migrate(connect()),
    migrate(connect(), { known: newer }),
  ])

  expect(await askOnce(url, 'SELECT max(n)::int AS n FROM schema_versions')).toEqual([{ n: to + 1 }])
})

test('a database of an older version keeps what it has and gets what came later', async () => {
  const { url, connect } = await open()
  const start = () => openTestPostgres(url)
  const old = await start()
  const session = newSession({ id: 'kept' })
  await done(old, create(session))
  await old.close()
  const later: Migration = {
    title: 'a column',
    since: '8.0.0',
    sql: `ALTER TABLE sessions ADD COLUMN later text; UPDATE sessions SET later = id || '!'`,
  }

  expect(await migrate(connect(), { known: [...migrations, later] })).toMatchObject({ from: to, to: to + 1 })

  expect(await askOnce(url, 'SELECT id, later FROM sessions')).toEqual([{ id: 'kept', later: 'kept!' }])
  const again = await start()
  expect(await again.sessions.list({ limit: 10 })).toEqual([session])
  await again.close()
})

test.each([1, 2])('a database from before 0.1.0, with %i migrations, is refused and not changed', async (found) => {
  const { url, connect } = await open()
  await migrate(connect())
  await askOnce(url, 'DROP TABLE schema_versions')
  await askOnce(url, 'CREATE TABLE migrations (n bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())')
  for (let n = 1; n <= found; n += 1) await askOnce(url, `INSERT INTO migrations (n) VALUES (${n})`)
  const tables = () => askOnce(url, `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`)
  const before = await tables()

  for (const start of [migrate, planMigration]) {
    await expect(start(connect())).rejects.toMatchObject({
      code: 'data_dir_older',
      message: `The database was written before 0.1.0 (format ${found}), and this Quarterdeck cannot read it. Nothing was changed. To keep its sessions as JSON Lines, run \`sessions export\` in a checkout of commit 6665030b. Then use another database.`,
    })
  }
  expect(await tables()).toEqual(before)
})

test('a migration names a release that is not older than the one before, and needs no later migration', () => {
  const numbers = migrations.map(({ since }) => since.split('.').reduce((sum, part) => sum * 1000 + Number(part), 0))

  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  for (const [i, { needs = 0 }] of migrations.entries()) expect(needs).toBeLessThanOrEqual(i + 1)
})

test('a database that is not in UTF8 is refused', async () => {
  const server = inject('postgres')
  const name = `test_latin_${crypto.randomUUID().replaceAll('-', '')}`
  await askOnce(server, `CREATE DATABASE ${name} ENCODING 'LATIN1' TEMPLATE template0`)
  const url = server.replace(/\/\w+$/, `/${name}`)
  const database = connectTest(url)
  onTestFinished(async () => {
    await database.close()
    await askOnce(server, `DROP DATABASE ${name} WITH (FORCE)`)
  })

  await expect(migrate(database)).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining('LATIN1'),
  })
})

test('a role that may not make tables is told so', async () => {
  const { url } = await open()
  const role = `weak_${crypto.randomUUID().replaceAll('-', '')}`
  await askOnce(url, `CREATE ROLE ${role} LOGIN`)
  const database = connectTest(url.replace('//postgres@', `//${role}@`))
  onTestFinished(async () => {
    await database.close()
    await askOnce(inject('postgres'), `DROP ROLE ${role}`)
  })

  await expect(migrate(database)).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining('permission denied'),
  })
})
