import { mkdir, mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTempFolder, type TempDisk } from './temp-file.ts'

async function folder() {
  const root = await mkdtemp(join(tmpdir(), 'quarterdeck-spool-test-'))
  return { dir: join(root, 'spool'), [Symbol.asyncDispose]: () => rm(root, { recursive: true }) }
}

test('returns what was written, from any position', async () => {
  await using at = await folder()
  const file = await createTempFolder(at.dir).create('a')
  await file.write(Buffer.from('hello '))
  await file.write(Buffer.from('world'))
  const bytes = Buffer.alloc(5)

  await file.fill(6, bytes)

  expect(bytes.toString()).toBe('world')
  await expect(file.fill(8, Buffer.alloc(5))).rejects.toMatchObject({ code: 'storage_failed' })
  await file.close()
  await file.close()
  await expect(file.fill(0, bytes)).rejects.toThrow('already released')
})

test.skipIf(process.platform === 'win32')(
  'is a file without a name in a folder that only this user can open',
  async () => {
    await using at = await folder()
    await mkdir(at.dir)
    // A killed process may leave such a file on Windows.
    await writeFile(join(at.dir, 'old'), 'left behind')
    const temp = createTempFolder(at.dir)

    const [one, two] = await Promise.all([temp.create('a'), temp.create('b')])
    await one.write(Buffer.from('1'))

    expect(await readdir(at.dir)).toEqual([])
    expect((await stat(at.dir)).mode & 0o777).toBe(0o700)
    for (const file of [one, two]) await file.close()
  },
)

test.each([
  ['ENOSPC', 'storage_full'],
  ['EDQUOT', 'storage_full'],
  ['EIO', 'storage_failed'],
])('the disk error %s becomes %s', async (code, expected) => {
  await using at = await folder()
  const failure = Object.assign(new Error(code), { code })
  const fail = async () => {
    throw failure
  }
  const unwritable: TempDisk = {
    mkdir,
    rm,
    open: async (path, flags, mode) => Object.assign(await open(path, flags, mode), { write: fail }),
  }

  await expect(createTempFolder(at.dir, { mkdir: fail, rm, open }).create('a')).rejects.toMatchObject({
    code: expected,
  })
  const file = await createTempFolder(at.dir, unwritable).create('a')
  await expect(file.write(Buffer.from('x'))).rejects.toMatchObject({ code: expected })
  await file.close()
})
