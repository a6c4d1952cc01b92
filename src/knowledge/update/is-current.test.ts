import { rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createIsCurrent } from './is-current.ts'
import { scanSources } from './scan-sources.ts'
import { newFolder, writeFiles } from './testing/write-files.ts'

/** Asks for all files that were scanned, before and after something happens. */
async function stillCurrent(directory: string, sources: string[], work: () => Promise<unknown>): Promise<string[]> {
  const settings = { directory, folders: ['/'], sources, ignore: [] }
  const { files } = await scanSources(settings, [], new AbortController().signal)
  const ask = async () => {
    const isCurrent = createIsCurrent(settings)
    const answers = await Promise.all(files.map((file) => isCurrent({ ...file, file: file.path })))
    return files.filter((_, i) => answers[i]).map(({ path }) => path)
  }
  expect(await ask()).toEqual(files.map(({ path }) => path))
  await work()
  return ask()
}

describe('whether a file is as it was when it was read', () => {
  test('tells changed, removed, touched and replaced files from those that are the same', async () => {
    const folder = await newFolder()
    const at = (path: string) => join(folder, 'docs', path)
    await writeFiles(folder, {
      'docs/changed.md': 'one',
      'docs/fifo.md': 'one',
      'docs/removed.md': 'one',
      'docs/same.md': 'one',
      'docs/sub/same.md': 'one',
      'docs/touched.md': 'one',
      'outside.md': 'one',
    })

    expect(
      await stillCurrent(folder, ['docs'], async () => {
        await writeFile(at('changed.md'), 'two')
        await rm(at('removed.md'))
        await utimes(at('touched.md'), 1, 1)
        await rm(at('fifo.md'))
        await symlink('../outside.md', at('fifo.md'))
      }),
    ).toEqual(['same.md', 'sub/same.md'])
  })

  test('holds for several sources, patterns, single files and links', async () => {
    const [folder, elsewhere] = [await newFolder(), await newFolder()]
    await writeFiles(elsewhere, { 'wiki/a.md': '1', 'wiki/b.md': '1', 'real/c.md': '1' })
    await writeFiles(folder, {
      'docs/a.md': '1',
      'docs/.data/x.md': '1',
      'docs/x.md': { to: '.data/x.md' },
      'notes/n.md': '1',
      linked: { to: join(elsewhere, 'real') },
      'one.md': '1',
    })
    const sources = ['docs', 'notes/*.md', 'one.md', 'linked', join(elsewhere, 'wiki')]

    expect(
      await stillCurrent(folder, sources, async () => {
        await rm(join(elsewhere, 'wiki/a.md'))
        await writeFile(join(folder, 'docs/.data/x.md'), 'longer')
      }),
    ).toEqual(['docs/a.md', 'linked/c.md', 'notes/n.md', 'one.md', 'wiki/b.md'])
  })

  test('knows nothing that a link leads out to, even if it looks the same', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/sub/a.md': 'one', 'outside/a.md': 'two' })

    expect(
      await stillCurrent(folder, ['docs'], async () => {
        await rm(join(folder, 'docs/sub'), { recursive: true })
        await symlink('../outside', join(folder, 'docs/sub'))
      }),
    ).toEqual([])
  })

  test('knows nothing of a source that is gone', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/a.md': 'one' })

    expect(await stillCurrent(folder, ['docs'], () => rename(join(folder, 'docs'), join(folder, 'old')))).toEqual([])
  })

  test('refuses names that lead out of the source', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/a.md': 'one', 'b.md': 'one' })
    const isCurrent = createIsCurrent({ directory: folder, folders: ['/'], sources: ['docs'] })
    const everything = { directory: folder, folders: ['/'], sources: ['.'], ignore: [] }
    const { files } = await scanSources(everything, [], new AbortController().signal)
    const outside = files.find(({ path }) => path === 'b.md')
    if (outside === undefined) throw new Error('it was not found')

    expect(await isCurrent({ ...outside, file: '../b.md' })).toBe(false)
  })

  test('looks at each file once', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/a.md': 'one' })
    const settings = { directory: folder, folders: ['/'], sources: ['docs'], ignore: [] }
    const [file] = (await scanSources(settings, [], new AbortController().signal)).files
    if (file === undefined) throw new Error('it has no file')
    const isCurrent = createIsCurrent(settings)
    const before = await isCurrent({ ...file, file: file.path })
    await rm(file.absolute)

    expect([before, await isCurrent({ ...file, file: file.path })]).toEqual([true, true])
    expect(await createIsCurrent(settings)({ ...file, file: file.path })).toBe(false)
  })
})
