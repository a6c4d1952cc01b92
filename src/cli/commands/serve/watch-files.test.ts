import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { type WatchTargets, watchFiles } from './watch-files.ts'

// The watch looks when nothing has happened for a moment. Files are written at once, so that it cannot look in between.

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
    for (const name of ['a.yaml', 'b.md', 'c.ts', 'same.txt']) writeFileSync(path(name), 'old')
    const { next, problems } = watching({ folders: [folder] })

    // Longer: the disk's clock may still say the same.
    writeFileSync(path('a.yaml'), 'newer')
    writeFileSync(path('b.md.new'), 'new text')
    renameSync(path('b.md.new'), path('b.md'))
    rmSync(path('c.ts'))
    writeFileSync(path('d.json'), '{}')

    expect(await next()).toEqual([path('a.yaml'), path('b.md'), path('c.ts'), path('d.json')])
    expect(problems).toEqual([])
  })

  test('also watches new folders, with the files in them', async () => {
    const folder = await tempFolder()
    const { next } = watching({ folders: [folder] })

    mkdirSync(join(folder, 'deep', 'er'), { recursive: true })
    writeFileSync(join(folder, 'deep', 'er', 'a.yaml'), 'one')
    expect(await next()).toEqual([join(folder, 'deep', 'er', 'a.yaml')])

    writeFileSync(join(folder, 'deep', 'er', 'a.yaml'), 'another')
    expect(await next()).toEqual([join(folder, 'deep', 'er', 'a.yaml')])
  })

  test('leaves out hidden files, packages, logs, databases and ignored paths', async () => {
    const folder = await tempFolder()
    for (const name of ['data', 'node_modules', '.git']) mkdirSync(join(folder, name))
    const { next } = watching({ folders: [folder], files: [join(folder, '.env')], ignore: [join(folder, 'data')] })

    const noise = ['data/x.yaml', 'node_modules/x.js', '.git/x', '.x.swp', 'x.yaml~', 'x.log', 'x.db', 'x.db-wal']
    for (const name of noise) writeFileSync(join(folder, name), 'noise')
    // After the noise, so that it would be in the same report.
    writeFileSync(join(folder, '.env'), 'A=1')

    expect(await next()).toEqual([join(folder, '.env')])
  })

  test('watches a single file elsewhere, also before it exists', async () => {
    const folder = await tempFolder()
    const { next } = watching({ files: [join(folder, 'prompt.md')] })

    writeFileSync(join(folder, 'other.md'), 'other')
    writeFileSync(join(folder, 'prompt.md'), 'Be brief.')

    expect(await next()).toEqual([join(folder, 'prompt.md')])
  })

  test('new targets lose no unreported change, and new files count as unchanged', async () => {
    const folder = await tempFolder()
    mkdirSync(join(folder, 'a'))
    mkdirSync(join(folder, 'b'))
    writeFileSync(join(folder, 'a', 'x.md'), 'old')
    writeFileSync(join(folder, 'b', 'y.md'), 'old')
    const { watch, next } = watching({ folders: [join(folder, 'a')] })

    writeFileSync(join(folder, 'a', 'x.md'), 'changed')
    watch.retarget({ folders: [join(folder, 'a'), join(folder, 'b')], files: [], ignore: [] })

    expect(await next()).toEqual([join(folder, 'a', 'x.md')])
  })
})
