import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../../test/postgres/test-database.ts'
import { openStore } from '../../../app/open-store.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { createBlobFolder } from '../../../files/keep/blob-folder.ts'
import { main } from '../../main.ts'
import { fillStore } from '../../testing/full-store.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.drop())

test('everything moves from SQLite to Postgres and back, and nothing differs', async () => {
  const cwd = await tempFolder()
  const store = openStore({ dataDir: join(cwd, 'a'), fatal() {} })
  await fillStore(store, createBlobFolder(join(cwd, 'a', 'files')))
  await store.close()
  const run = async (env: Record<string, string>, ...args: string[]) => {
    const io = createTestIo({ cwd, env, clock: createSystemClock() })
    const exitCode = await main(args, io)
    return { exitCode, out: io.printed(), err: io.complained() }
  }
  const postgres = { QUARTERDECK_STORE: database.url }
  const sameWith = (entries: number) => ({
    exitCode: 0,
    out: '',
    err: `Nothing differs: 3 sessions, 1 file, 7 other records, and ${entries} entries of the audit trail are the same.\n`,
  })

  expect(await run(postgres, 'sessions', 'list')).toMatchObject({
    exitCode: 73,
    err: expect.stringContaining('Run quarterdeck migrate'),
  })
  expect(await run(postgres, 'migrate', '--dry-run')).toMatchObject({
    exitCode: 0,
    out: expect.stringMatching(/^1 {2}expand {4}sessions with their logs/m),
  })
  expect(await run(postgres, 'migrate')).toMatchObject({ exitCode: 0 })
  expect(await run(postgres, 'migrate', '--dry-run')).toMatchObject({
    exitCode: 0,
    err: expect.stringContaining('up to date'),
  })

  await run({}, 'sessions', 'export', '--all', '--data-dir', 'a', '-o', 'a.jsonl')
  expect(await run(postgres, 'sessions', 'import', '--all', 'a.jsonl')).toEqual({
    exitCode: 0,
    out: '',
    err: 'Imported 3 sessions.\n',
  })
  expect(await run(postgres, 'sessions', 'compare', 'a.jsonl')).toEqual(sameWith(2))
  expect(await run(postgres, 'sessions', 'import', '--all', 'a.jsonl')).toMatchObject({
    exitCode: 0,
    err: 'Imported 0 sessions. 3 sessions were here already, the same.\n',
  })
  expect(await run(postgres, 'audit', 'verify')).toMatchObject({
    exitCode: 0,
    // Two entries that came along; the first of a new chain, and the record of the import.
    out: expect.stringMatching(/^The audit trail is whole: 4 entries in 2 chains\./),
  })

  expect(await run(postgres, 'sessions', 'export', '--all', '-o', 'pg.jsonl')).toMatchObject({ exitCode: 0 })
  expect(await run({}, 'sessions', 'import', '--all', 'pg.jsonl', '--data-dir', 'b')).toMatchObject({
    exitCode: 0,
    err: 'Imported 3 sessions.\n',
  })
  // The first archive is in the store that has gone both ways.
  expect(await run({}, 'sessions', 'compare', 'pg.jsonl', '--data-dir', 'b')).toEqual(sameWith(4))
  expect(await run({}, 'sessions', 'compare', 'a.jsonl', '--data-dir', 'b')).toEqual(sameWith(2))
  expect(await run({}, 'audit', 'verify', '--data-dir', 'b')).toMatchObject({ exitCode: 0 })
})
