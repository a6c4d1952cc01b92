import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { askOnce, openTestDatabase } from '../../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { migrate } from '../../../store/postgres/migrate.ts'
import { type Migration, migrations } from '../../../store/postgres/schema.ts'
import { connectTest } from '../../../store/postgres/testing/open-postgres.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { migrationLine, shutOutLine } from './migrate.ts'

const known = migrations.length
const adds: Migration = { title: 'a table', since: '8.0.0', sql: 'CREATE TABLE later (a text)' }
const takesAway: Migration = { title: 'no table', since: '9.0.0', sql: 'DROP TABLE blobs', needs: known + 1 }

let url: string
let drop: () => Promise<void>
beforeEach(async () => {
  ;({ url, drop } = await openTestDatabase())
})
afterEach(() => drop())

/** What a newer program would do. */
async function migrateTo(list: readonly Migration[]): Promise<void> {
  const database = connectTest(url, { readers: 1 })
  await migrate(database, { known: list }).finally(() => database.close())
}

async function run(...args: string[]) {
  const cwd = await tempFolder()
  await writeFile(join(cwd, 'agent.yaml'), 'name: a\nmodel: { provider: demo }\ninstructions: Be brief.\n')
  const io = createTestIo({ cwd, clock: createSystemClock(), env: { NO_COLOR: '1', QUARTERDECK_STORE: url } })
  return { code: await main(args, io), out: io.printed(), err: io.complained() }
}

test('a dry run says what is missing and of which kind it is', async () => {
  const { code, out, err } = await run('migrate', '--dry-run')

  expect([code, out.split('\n').map((line) => line.slice(0, 12))]).toEqual([
    0,
    [...migrations.map((_, i) => `${i + 1}  expand    `.slice(0, 12)), ''],
  ])
  expect(err).toContain(`would be updated from version 0 to ${known}`)
  expect(await askOnce(url, `SELECT to_regclass('schema_versions') AS t`)).toEqual([{ t: null }])
})

test('without a database it says where to name one', async () => {
  const io = createTestIo({ cwd: await tempFolder(), clock: createSystemClock(), env: { NO_COLOR: '1' } })

  expect([await main(['migrate', '--dry-run'], io), io.complained()]).toEqual([
    2,
    'quarterdeck: Set QUARTERDECK_STORE to the address of the Postgres database.\n' +
      '  If the address has no password, --store postgres://user@host/database does it too.\n' +
      '  The SQLite database of a data directory is updated when the server starts.\n',
  ])
})

test('a line about a contract says who can no longer use the database', () => {
  expect(migrationLine(known + 2, takesAway)).toBe(
    `${known + 2}  contract  no table; servers that do not know version ${known + 1} can no longer use the database`,
  )
})

test('a dry run says how many servers would be shut out', () => {
  expect([1, 2].map(shutOutLine)).toEqual([
    '1 server runs that cannot use the database after that. The update would be refused now, unless you add --force.',
    '2 servers run that cannot use the database after that. The update would be refused now, unless you add --force.',
  ])
})

test('commands work on a database to which a newer version has added, and say that it is newer', async () => {
  await migrateTo([...migrations, adds])

  expect(await run('migrate')).toMatchObject({
    code: 0,
    err: expect.stringMatching(
      `is at version ${known + 1}, from a newer Quarterdeck. This one knows version ${known} and can still use it.\n$`,
    ),
  })
  const note =
    'quarterdeck: A newer version has changed this database. What it has added is left out here: use that version.\n'
  expect(await run('sessions', 'list', '--json')).toEqual({ code: 0, out: '', err: note })
  const { checks } = JSON.parse((await run('doctor', '--json')).out) as { checks: { name: string }[] }
  expect(checks.find(({ name }) => name === 'Store')).toMatchObject({
    status: 'warn',
    detail: expect.stringContaining(
      `a newer Quarterdeck has changed it (version ${known + 1}, this one knows ${known})`,
    ),
  })
})

test('every command refuses a database that has lost what it uses, and names the release that can use it', async () => {
  await migrateTo([...migrations, adds, takesAway])

  for (const args of [['migrate'], ['migrate', '--dry-run'], ['sessions', 'list'], ['tokens', 'list']]) {
    expect(await run(...args)).toMatchObject({
      code: 73,
      out: '',
      err: expect.stringContaining('Use Quarterdeck 8.0.0 or a newer one.'),
    })
  }
})

test.each([['tokens'], ['passkeys']])('%s list changes nothing in a database of an older version', async (name) => {
  await migrateTo(migrations)
  await askOnce(url, `DELETE FROM schema_versions WHERE n = ${known}`)

  expect(await run(name, 'list')).toMatchObject({
    code: 73,
    out: '',
    err: expect.stringContaining(
      `The database is at version ${known - 1}, and this Quarterdeck needs ${known}. Run quarterdeck migrate`,
    ),
  })
  expect(await askOnce(url, 'SELECT count(*)::int AS n FROM schema_versions')).toEqual([{ n: known - 1 }])
})
