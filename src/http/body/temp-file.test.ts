import { mkdir, mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSpoolFolder, type SpoolDisk } from './temp-file.ts'

async function folder() {
  const root = await mkdtemp(join(tmpdir(), 'quarterdeck-spool-test-'))
  return { dir: join(root, 'spool'), [Symbol.asyncDispose]: () => rm(root, { recursive: true }) }
}

test('gives back what was written, from anywhere', async () => {
  await using at = await folder()
  const spool = await createSpoolFolder(at.dir).begin('a')
  await spool.write(Buffer.from('hello '))
  await spool.write(Buffer.from('world'))
  const bytes = Buffer.alloc(5)

  await spool.fill(6, bytes)

  expect(bytes.toString()).toBe('world')
  await expect(spool.fill(8, Buffer.alloc(5))).rejects.toMatchObject({ code: 'storage_failed' })
  await spool.close()
  await spool.close()
  await expect(spool.fill(0, bytes)).rejects.toThrow('let go')
})

test.skipIf(process.platform === 'win32')(
  'is a file without a name in a folder that nobody else can look into',
  async () => {
    await using at = await folder()
    await mkdir(at.dir)
    // As a process that was killed may have left it on Windows.
    await writeFile(join(at.dir, 'old'), 'left behind')
    const spools = createSpoolFolder(at.dir)

    const [one, two] = await Promise.all([spools.begin('a'), spools.begin('b')])
    await one.write(Buffer.from('1'))

    expect(await readdir(at.dir)).toEqual([])
    expect((await stat(at.dir)).mode & 0o777).toBe(0o700)
    for (const spool of [one, two]) await spool.close()
  },
)

test.each([
  ['ENOSPC', 'storage_full'],
  ['EDQUOT', 'storage_full'],
  ['EIO', 'storage_failed'],
])('%s of the disk is %s', async (code, expected) => {
  await using at = await folder()
  const failure = Object.assign(new Error(code), { code })
  const fail = async () => {
    throw failure
  }
  const unwritable: SpoolDisk = {
    mkdir,
    rm,
    open: async (path, flags, mode) => Object.assign(await open(path, flags, mode), { write: fail }),
  }

  await expect(createSpoolFolder(at.dir, { mkdir: fail, rm, open }).begin('a')).rejects.toMatchObject({
    code: expected,
  })
  const spool = await createSpoolFolder(at.dir, unwritable).begin('a')
  await expect(spool.write(Buffer.from('x'))).rejects.toMatchObject({ code: expected })
  await spool.close()
})
