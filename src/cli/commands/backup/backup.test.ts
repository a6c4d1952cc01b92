import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lockDataDir, openStore } from '../../../app/open-store.ts'
import { createBlobFolder } from '../../../files/keep/blob-folder.ts'
import { done, newFile, newId } from '../../../store/contract/samples.contract.ts'
import { main } from '../../main.ts'
import { fillStore } from '../../testing/full-store.ts'
import { sampleSession } from '../../testing/sample-session.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'

const contents = '8d'.repeat(32)

/** A data directory `data` with one of everything. */
async function setUp() {
  const cwd = await tempFolder()
  const store = openStore({ dataDir: join(cwd, 'data'), fatal() {} })
  await fillStore(store, createBlobFolder(join(cwd, 'data', 'files')))
  await store.close()
  for (const part of ['manifests', 'blobs/8d', 'restores', 'incoming'])
    await mkdir(join(cwd, 'data/checkpoints', part), { recursive: true })
  for (const part of [`manifests/${contents}`, `blobs/8d/${contents}`, 'restores/one', 'incoming/one'])
    await writeFile(join(cwd, 'data/checkpoints', part), part)
  const run = async (...args: string[]) => {
    const io = createTestIo({ cwd })
    const exitCode = await main(args, io)
    return { exitCode, out: io.printed(), err: io.complained() }
  }
  return { cwd, run }
}

const backUp = ['backup', 'kept', '--data-dir', 'data']
const restore = ['restore', 'kept', '--data-dir', 'back']

describe('backup and restore', () => {
  test('bring everything back, readable by nobody else', async () => {
    const { cwd, run } = await setUp()
    expect(await run(...backUp)).toEqual({
      exitCode: 0,
      out: expect.stringMatching(/\/kept: the database and 3 files, \d+\.\d MB, checked\.\n$/),
      err: expect.stringMatching(/^Not in it: tokens, passkeys and keys \(the config folder\)/),
    })
    expect((await readdir(join(cwd, 'kept'))).sort()).toEqual(['SHA256SUMS', 'checkpoints', 'files', 'quarterdeck.db'])
    expect(await run(...restore)).toEqual({
      exitCode: 0,
      out: expect.stringMatching(/\/back: the database and 3 files, checked\.\n$/),
      err: '',
    })

    // The first line has the time of the export.
    const everything = async (dataDir: string) =>
      (await run('sessions', 'export', '--all', '--data-dir', dataDir)).out.split('\n').slice(1)
    expect(await everything('back')).toEqual(await everything('data'))
    expect((await run('audit', 'verify', '--data-dir', 'back')).out).toBe(
      (await run('audit', 'verify', '--data-dir', 'data')).out,
    )
    expect((await readdir(join(cwd, 'back/checkpoints'), { recursive: true })).sort()).toEqual(
      ['blobs', 'blobs/8d', `blobs/8d/${contents}`, 'manifests', `manifests/${contents}`].sort(),
    )
    for (const top of ['kept', 'back']) {
      for (const path of ['', ...(await readdir(join(cwd, top), { recursive: true }))]) {
        const found = await stat(join(cwd, top, path))
        expect([path, found.mode & 0o777]).toEqual([path, found.isDirectory() ? 0o700 : 0o600])
      }
    }
    expect((await readdir(cwd)).sort()).toEqual(['back', 'data', 'kept'])
  })

  test('a backup is written beside a running server, a restore is refused there', async () => {
    const { cwd, run } = await setUp()
    const server = openStore({ dataDir: join(cwd, 'data'), fatal() {} })
    onTestFinished(() => server.close())
    await done(server, { type: 'import_session', ...sampleSession(7, 'late') })

    expect(await run(...backUp)).toMatchObject({ exitCode: 0 })
    expect(await run('restore', 'kept', '--data-dir', 'data')).toMatchObject({
      exitCode: 73,
      err: expect.stringContaining('Another Quarterdeck uses the data directory'),
    })
    expect((await run(...restore)).exitCode).toBe(0)
    expect((await run('sessions', 'list', '--owner', 'late', '--data-dir', 'back')).out).toContain('01')
  })

  test('nothing is overwritten', async () => {
    const { cwd, run } = await setUp()
    await run(...backUp)
    const before = await readFile(join(cwd, 'kept/SHA256SUMS'), 'utf8')
    expect(await run(...backUp)).toMatchObject({ exitCode: 73, err: expect.stringContaining('kept is not empty.') })
    expect(await readFile(join(cwd, 'kept/SHA256SUMS'), 'utf8')).toBe(before)

    await mkdir(join(cwd, 'back'))
    await writeFile(join(cwd, 'back/mine.txt'), 'mine')
    expect(await run(...restore)).toMatchObject({
      exitCode: 73,
      err: expect.stringMatching(/back is not empty\.\n {2}Move it away first: mv /),
    })
    expect(await readdir(join(cwd, 'back'))).toEqual(['mine.txt'])
    await rm(join(cwd, 'back/mine.txt'))
    // An empty folder is what a service manager makes.
    expect((await run(...restore)).exitCode).toBe(0)
  })

  test('what a killed command has left is removed, what another one writes is not', async () => {
    const { cwd, run } = await setUp()
    await mkdir(join(cwd, 'kept.partial/files'), { recursive: true })
    await writeFile(join(cwd, 'kept.partial/quarterdeck.db'), 'half')
    const lock = lockDataDir(join(cwd, 'kept.partial'))
    expect(await run(...backUp)).toMatchObject({ exitCode: 73, err: expect.stringContaining('Another command is') })
    lock.release()
    expect((await run(...backUp)).exitCode).toBe(0)
    expect((await readdir(cwd)).sort()).toEqual(['data', 'kept'])
  })

  test('a session that is deleted meanwhile is in the backup with its file, or not at all', async () => {
    const { cwd, run } = await setUp()
    const server = openStore({ dataDir: join(cwd, 'data'), fatal() {} })
    onTestFinished(() => server.close())
    const blobs = createBlobFolder(join(cwd, 'data/files'))
    const kept: { id: string; sha256: string }[] = []
    for (let i = 0; i < 40; i += 1) {
      const bytes = randomBytes(20_000)
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      const incoming = await blobs.begin(newId())
      await incoming.write(bytes)
      await incoming.sync()
      await incoming.keepAs(sha256)
      const { session, ...talk } = sampleSession(100 + i)
      const file = newFile({ owner: session.owner, sessionId: session.id, sha256, bytes: bytes.length })
      await done(server, { type: 'import_session', session, ...talk, files: [file] })
      kept.push({ id: session.id, sha256 })
    }
    const backedUp = run(...backUp)
    for (const { id, sha256 } of kept.slice(20)) {
      await done(server, { type: 'delete_session', sessionId: id, now: Date.now() })
      await blobs.remove(sha256, Number.POSITIVE_INFINITY)
    }
    expect((await backedUp).exitCode).toBe(0)
    expect((await run(...restore)).exitCode).toBe(0)
    expect((await run('sessions', 'export', '--data-dir', 'back')).exitCode).toBe(0)
  })

  test.each([
    ['a file with another byte', 'files', (path: string) => writeFile(path, 'x', { flag: 'r+' }), 'has changed'],
    ['a file that is gone', 'files', (path: string) => rm(path), 'is missing'],
    [
      'a database with another byte',
      'quarterdeck.db',
      (path: string) => writeFile(path, 'x', { flag: 'r+' }),
      'changed',
    ],
    ['a list that is cut off', 'SHA256SUMS', (path: string) => truncate(path, 100), 'SHA256SUMS is cut off'],
    [
      'a list without its files',
      'SHA256SUMS',
      async (path: string) => {
        const lines = (await readFile(path, 'utf8')).split('\n')
        await writeFile(path, lines.filter((line) => !line.includes('files/')).join('\n'))
      },
      'is missing',
    ],
    [
      'a list that leads elsewhere',
      'SHA256SUMS',
      (path: string) => writeFile(path, `${contents}  ../../etc/passwd\n`, { flag: 'a' }),
      'has a line that was not written by quarterdeck backup',
    ],
  ])('%s is refused, and nothing is written', async (_, part, harm, why) => {
    const { cwd, run } = await setUp()
    await run(...backUp)
    const paths = await readdir(join(cwd, 'kept'), { recursive: true })
    const path = paths.find((one) => (part === 'files' ? /files\/..\/\w+$/.test(one) : one === part)) ?? ''
    await harm(join(cwd, 'kept', path))
    expect(await run(...restore)).toMatchObject({ exitCode: 65, err: expect.stringContaining(why) })
    expect((await readdir(cwd)).sort()).toEqual(['data', 'kept'])
  })

  test('damage in the data directory is told, and there is no backup', async () => {
    const { cwd, run } = await setUp()
    const [file = ''] = (await readdir(join(cwd, 'data/files'), { recursive: true })).filter((one) => one.length > 64)
    await writeFile(join(cwd, 'data/files', file), 'x', { flag: 'r+' })
    expect(await run(...backUp)).toMatchObject({ exitCode: 65, err: expect.stringContaining('its bytes have changed') })
    await rm(join(cwd, 'data/files', file))
    expect(await run(...backUp)).toMatchObject({ exitCode: 65, err: expect.stringContaining('it is missing') })
    expect(await readdir(cwd)).toEqual(['data'])
  })

  test('a folder that is not a backup, or no data, or Postgres: exit 2', async () => {
    const { cwd, run } = await setUp()
    expect(await run('restore', 'data', '--data-dir', 'back')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('is not a backup of Quarterdeck'),
    })
    expect(await run('backup', 'kept', '--data-dir', 'none')).toMatchObject({ exitCode: 2 })
    const io = createTestIo({ cwd, env: { QUARTERDECK_STORE: 'postgres://deck@db/quarterdeck' } })
    expect([await main(['backup', 'kept'], io), io.complained()]).toEqual([2, expect.stringContaining('pg_dump')])
    expect(existsSync(join(cwd, 'kept'))).toBe(false)
  })

  test('a terminal shows how far it is', async () => {
    const { cwd } = await setUp()
    const io = createTestIo({ cwd, terminal: true })
    expect(await main(backUp, io)).toBe(0)
    expect(io.complained()).toContain('\r\x1b[2KChecking the copy of the database')
    expect(io.complained()).toContain('\r\x1b[2KFiles: 1 of 1')
    expect(await main(restore, io)).toBe(0)
    expect(io.complained()).toContain('\r\x1b[2KRestoring: 4 of 4')
  })
})
