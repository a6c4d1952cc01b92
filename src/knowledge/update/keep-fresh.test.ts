import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import { createKeepFresh, freshLimits } from './keep-fresh.ts'
import { newFolder, writeFiles } from './testing/write-files.ts'

const clock = createSystemClock()
const short = { ...freshLimits, quietMs: 30, longestMs: 200, pollMs: 100 }
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function watching(folders: () => readonly string[], limits = short, work = async () => {}) {
  const lines: LogLine[] = []
  const looks: number[] = []
  const fresh = createKeepFresh(
    {
      async changed() {
        looks.push(clock.mono())
        await work()
        await fresh.watch(folders())
      },
      clock,
      log: recordingLogger(lines),
    },
    limits,
  )
  onTestFinished(() => fresh.close())
  await fresh.watch(folders())
  // The first look is for what changed before the folders were watched.
  await expect.poll(() => looks.length).toBe(1)
  await wait(3 * limits.quietMs)
  return { fresh, looks, lines }
}

describe('keeping fresh', () => {
  test('looks after a change, once for many', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'a/x.md': '', 'b/y.md': '' })
    const folders = [join(folder, 'a'), join(folder, 'b')]
    const { looks } = await watching(() => folders, { ...short, quietMs: 200, longestMs: 2_000 })
    const before = looks.length
    for (let i = 0; i < 10; i += 1) await writeFile(join(folder, 'b', `${i}.md`), 'x')
    await expect.poll(() => looks.length).toBe(before + 1)
    await rm(join(folder, 'a/x.md'))
    await expect.poll(() => looks.length).toBe(before + 2)
    await wait(5 * short.quietMs)

    expect(looks).toHaveLength(before + 2)
  })

  test('looks also when changes never end', async () => {
    const folder = await newFolder()
    const { looks } = await watching(() => [folder])
    const [before, startedAt] = [looks.length, clock.mono()]
    while (looks.length === before && clock.mono() - startedAt < 20_000) {
      await writeFile(join(folder, 'log.txt'), String(clock.mono()))
      await wait(5)
    }

    expect(looks.length).toBe(before + 1)
  })

  test('looks once more when something changes during a look', async () => {
    const folder = await newFolder()
    let isFirst = true
    const { looks } = await watching(
      () => [folder],
      short,
      async () => {
        if (!isFirst) return
        isFirst = false
        await writeFile(join(folder, 'a.md'), 'x')
        await wait(20)
      },
    )

    await expect.poll(() => looks.length).toBe(2)
  })

  test('watches a folder that has taken the place of another', async () => {
    const folder = await newFolder()
    await writeFiles(folder, { 'docs/sub/a.md': '', 'next/sub/a.md': '' })
    const { looks } = await watching(() => [join(folder, 'docs'), join(folder, 'docs/sub')])
    await rename(join(folder, 'docs'), join(folder, 'old'))
    await rename(join(folder, 'next'), join(folder, 'docs'))
    await expect.poll(() => looks.length).toBeGreaterThan(1)
    await wait(5 * short.quietMs)
    const before = looks.length
    await writeFile(join(folder, 'docs/sub/a.md'), 'changed')

    await expect.poll(() => looks.length).toBe(before + 1)
  })

  test('looks now and then where there is too much to watch, and says so once', async () => {
    const folder = await newFolder()
    const folders = [1, 2, 3].map((i) => join(folder, String(i)))
    for (const one of folders) await mkdir(one)
    const { looks, lines, fresh } = await watching(() => folders, { ...short, folders: 2 }).catch(() => {
      throw new Error('it did not look')
    })
    await expect.poll(() => looks.length).toBeGreaterThan(3)
    fresh.close()
    await wait(short.pollMs)
    const before = looks.length
    await wait(3 * short.pollMs)

    expect(looks).toHaveLength(before)
    expect(lines).toEqual([
      {
        level: 'warn',
        message: 'not all folders of documents can be watched, so they are looked at now and then',
        fields: { why: 'more than 2 folders', seconds: 0.1 },
      },
    ])
  })

  test('does nothing while nothing changes, and nothing after it is closed', async () => {
    const folder = await newFolder()
    const { fresh, looks } = await watching(() => [folder, join(folder, 'missing')])
    const before = looks.length
    await wait(3 * short.pollMs)
    fresh.close()
    await writeFile(join(folder, 'a.md'), 'x')
    await fresh.watch([folder])
    await wait(5 * short.quietMs)

    expect(looks).toHaveLength(before)
  })
})
