import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '../../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { createPasskeys } from '../../../http/auth/console/passkeys.ts'
import { openTestPostgres } from '../../../store/postgres/testing/open-postgres.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo, type TestIoOptions } from '../../testing/test-io.ts'

test('a lost passkey is removed in the database that the servers share', async () => {
  const { url, drop } = await openTestDatabase()
  onTestFinished(drop)
  const store = await openTestPostgres(url)
  onTestFinished(() => store.close())
  const passkeys = createPasskeys(store.shared)
  await passkeys.add({
    ...{
      id: 'k1',
      user: 'ada',
      label: 'Laptop',
      rpId: 'localhost',
      credentialId: 'Y3JlZA',
      publicKey: 'a2V5',
      counter: 3,
    },
    ...{ transports: [], createdAt: Date.parse('2026-11-15T09:00:00Z'), lastUsedAt: null },
  })
  const cwd = await tempFolder()
  const run = async (args: string[], options: TestIoOptions = {}) => {
    const io = createTestIo({
      cwd,
      clock: createSystemClock(),
      ...options,
      env: { NO_COLOR: '1', QUARTERDECK_STORE: url },
    })
    return { code: await main(['passkeys', ...args], io), out: io.printed(), err: io.complained() }
  }
  const stdin = new PassThrough()
  stdin.write('y\n')

  expect(JSON.parse((await run(['list', '--json'])).out)).toMatchObject({ passkey_id: 'k1', user: 'ada' })
  expect((await run(['remove', 'k1'])).err).toContain('only at a terminal')
  expect(await run(['remove', 'k1'], { terminal: true, stdin })).toMatchObject({ code: 0 })
  expect(await passkeys.list()).toEqual([])
  const [entry] = await store.audit.newest(null, 1)
  expect(JSON.parse(entry?.text ?? '')).toMatchObject({ kind: 'passkey_removed', details: { passkey: 'k1' } })
})
