import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { type WatchTargets, watchFiles } from './watch-files.ts'

/** Watches, and returns one report after the other. */
function watching(targets: Partial<WatchTargets>) {
  const reports: string[][] = []
  const problems: string[] = []
  let waiting: ((paths: string[]) => void) | null = null
  const watch = watchFiles(
    { folders: [], files: [], ignore: [], ...targets },
    {
      clock: createSystemClock(),
      onChange(paths) {
        if (waiting === null) reports.push(paths)
        else waiting(paths)
        waiting = null
      },
      onProblem: (message) => void problems.push(message),
    },
  )
  onTestFinished(() => watch.close())
  const next = () =>
    new Promise<string[]>((resolve) => {
      const report = reports.shift()
      if (report === undefined) waiting = resolve
      else resolve(report)
    })
  return { watch, next, problems }
}

describe('watching files', () => {
  test('reports files that change, appear or disappear together once', async () => {
    const folder = await tempFolder()
    const path = (name: string) => join(folder, name)
    for (const name of ['a.yaml', 'b.md', 'c.ts', 'same.txt']) await writeFile(path(name), 'old')
    const { next, problems } = watching({ folders: [folder] })

    await writeFile(path('a.yaml'), 'new')
    await writeFile(path('b.md.new'), 'new text')
    await rename(path('b.md.new'), path('b.md'))
    await rm(path('c.ts'))
    await writeFile(path('d.json'), '{}')

    expect(await next()).toEqual([path('a.yaml'), path('b.md'), path('c.ts'), path('d.json')])
    expect(problems).toEqual([])
  })

  test('also watches new folders, with the files in them', async () => {
    const folder = await tempFolder()
    const { next } = watching({ folders: [folder] })

    await mkdir(join(folder, 'deep', 'er'), { recursive: true })
    await writeFile(join(folder, 'deep', 'er', 'a.yaml'), 'one')
    expect(await next()).toEqual([join(folder, 'deep', 'er', 'a.yaml')])

    await writeFile(join(folder, 'deep', 'er', 'a.yaml'), 'another')
    expect(await next()).toEqual([join(folder, 'deep', 'er', 'a.yaml')])
  })

  test('leaves out hidden files, packages, logs, databases and ignored paths', async () => {
    const folder = await tempFolder()
    for (const name of ['data', 'node_modules', '.git']) await mkdir(join(folder, name))
    const { next } = watching({ folders: [folder], files: [join(folder, '.env')], ignore: [join(folder, 'data')] })

    const noise = ['data/x.yaml', 'node_modules/x.js', '.git/x', '.x.swp', 'x.yaml~', 'x.log', 'x.db', 'x.db-wal']
    for (const name of noise) await writeFile(join(folder, name), 'noise')
    // After the noise, so that it would be in the same report.
    await writeFile(join(folder, '.env'), 'A=1')

    expect(await next()).toEqual([join(folder, '.env')])
  })

  test('watches a single file elsewhere, also before it exists', async () => {
    const folder = await tempFolder()
    const { next } = watching({ files: [join(folder, 'prompt.md')] })

    await writeFile(join(folder, 'other.md'), 'other')
    await writeFile(join(folder, 'prompt.md'), 'Be brief.')

    expect(await next()).toEqual([join(folder, 'prompt.md')])
  })

  test('new targets lose no unreported change, and new files count as unchanged', async () => {
    const folder = await tempFolder()
    await mkdir(join(folder, 'a'))
    await mkdir(join(folder, 'b'))
    await writeFile(join(folder, 'a', 'x.md'), 'old')
    await writeFile(join(folder, 'b', 'y.md'), 'old')
    const { watch, next } = watching({ folders: [join(folder, 'a')] })

    await writeFile(join(folder, 'a', 'x.md'), 'changed')
    watch.retarget({ folders: [join(folder, 'a'), join(folder, 'b')], files: [], ignore: [] })

    expect(await next()).toEqual([join(folder, 'a', 'x.md')])
  })
})
