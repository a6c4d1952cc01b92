import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lockDataDir, openStore } from '../../../app/open-store.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { openConfigRecords } from '../../../http/auth/config-folder/config-records.ts'
import { createPasskeys } from '../../../http/auth/console/passkeys.ts'
import { createLocalShared } from '../../../store/local-shared.ts'
import { makeFolder } from '../../../store/make-folder.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo, type TestIoOptions } from '../../testing/test-io.ts'

const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const fatal = (error: Error) => {
  throw error
}

/** A data directory that was served before, with one passkey. */
async function setUp() {
  const cwd = await tempFolder()
  const dataDir = join(cwd, '.quarterdeck')
  mkdirSync(dataDir)
  await openStore({ dataDir, fatal }).close()
  const place = { configDir: join(cwd, '.config'), dataDir, makeFolder }
  const open = () =>
    createPasskeys(createLocalShared(createSystemClock(), openConfigRecords(place, silentLogger).kinds))
  await open().add({
    ...{ id, user: 'ada', label: 'Laptop', rpId: 'localhost', credentialId: 'Y3JlZA', publicKey: 'a2V5', counter: 3 },
    ...{ transports: [], createdAt: Date.parse('2026-11-15T09:00:00Z'), lastUsedAt: null },
  })
  const run = async (args: string[], options: TestIoOptions = {}) => {
    const io = createTestIo({ cwd, ...options, env: { NO_COLOR: '1' } })
    return { code: await main(['passkeys', ...args], io), out: io.printed(), err: io.complained() }
  }
  const typing = (text: string) => {
    const stdin = new PassThrough()
    stdin.write(text)
    return { terminal: true, stdin }
  }
  return { cwd, dataDir, open, run, typing }
}

describe('quarterdeck passkeys', () => {
  test('lists them', async () => {
    const { run, open } = await setUp()

    expect((await run(['list'])).out).toBe(
      `ID                                    USER  HOST       CREATED (UTC)     LAST USED  NAME\n${id}  ada   localhost  2026-11-15 09:00  never      Laptop\n`,
    )
    expect(JSON.parse((await run(['list', '--json'])).out)).toEqual({
      ...{ passkey_id: id, user: 'ada', label: 'Laptop', host: 'localhost' },
      ...{ created_at: '2026-11-15T09:00:00.000Z', last_used_at: null },
    })
    await open().remove(id)
    expect(await run(['list'])).toMatchObject({ code: 0, out: '', err: expect.stringContaining('no passkeys') })
  })

  test('removes a lost one after a yes, and puts it on record', async () => {
    const { run, typing, open, dataDir } = await setUp()

    expect(await run(['remove', id], typing('n\n'))).toMatchObject({ code: 1 })
    expect(await open().list()).toHaveLength(1)
    const done = await run(['remove', id], typing('y\n'))
    expect([done.code, done.out]).toEqual([0, expect.stringContaining('It is the last one')])
    expect(await open().list()).toEqual([])
    const store = openStore({ dataDir, fatal })
    onTestFinished(() => store.close())
    const [entry] = await store.audit.entries(0, 10)
    expect(JSON.parse(entry?.text ?? '')).toMatchObject({
      ...{ kind: 'passkey_removed', by: 'command line', details: { passkey: id, user: 'ada' } },
    })
  })

  test('removes none without a terminal, beside a running server, or that is not there', async () => {
    const { run, typing, open, dataDir } = await setUp()

    expect((await run(['remove', id])).err).toContain('only at a terminal')
    expect((await run(['remove', 'x'], typing('y\n'))).err).toContain('There is no passkey "x"')
    const lock = lockDataDir(dataDir)
    expect((await run(['remove', id], typing('y\n'))).err).toContain('Stop it, then run this command again.')
    lock.release()
    expect(await open().list()).toHaveLength(1)
  })
})
