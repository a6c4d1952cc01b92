import { afterAll, beforeAll, expect, test } from 'vitest'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.drop())

test('tokens of a shared store are created, listed and revoked from any machine', async () => {
  const tokens = async (...args: string[]) => {
    const io = createTestIo({
      cwd: await tempFolder(),
      clock: createSystemClock(),
      env: { QUARTERDECK_STORE: database.url },
    })
    const exitCode = await main(['tokens', ...args], io)
    return { exitCode, out: io.printed(), err: io.complained() }
  }

  expect(await tokens('list')).toMatchObject({ exitCode: 73, err: expect.stringContaining('Run quarterdeck migrate') })
  expect(await askOnce(database.url, `SELECT to_regclass('shared') AS t`)).toEqual([{ t: null }])

  const made = await tokens(
    'create',
    '--role',
    'operator',
    '--user',
    'corp:ada',
    '--scopes',
    'read',
    '--expires',
    '30d',
  )
  expect(made).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^qd_[\w-]{43}\n$/) })
  const { id, ...shown } = JSON.parse((await tokens('list', '--json')).out)
  expect(shown).toMatchObject({ user: 'corp:ada', role: 'operator', scopes: ['read'], expires_at: expect.any(String) })
  expect(await tokens('revoke', id)).toMatchObject({ exitCode: 0 })
  expect(await tokens('revoke', id)).toMatchObject({ exitCode: 1 })
  expect((await tokens('list')).err).toMatch(/^There are no tokens at postgres:\/\/\S+\. To create one/)
})
