import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { INDEX, testUpdater } from './testing/test-updater.ts'
import { newFolder } from './testing/write-files.ts'

test('reads nothing again when a folder of 10,000 files moves', async () => {
  const folder = await newFolder()
  await mkdir(join(folder, 'docs/old'), { recursive: true })
  for (let i = 0; i < 10_000; i += 1) await writeFile(join(folder, `docs/old/${i}.md`), `text ${i}`)
  const { store, reads, update } = testUpdater(folder)
  expect(await update()).toMatchObject({ read: 10_000 })
  await rename(join(folder, 'docs/old'), join(folder, 'docs/new'))

  expect(await update()).toMatchObject({ read: 0, known: 10_000, removed: 10_000 })
  expect(reads).toHaveLength(10_000)
  expect(await store.figures(INDEX)).toMatchObject({ files: 10_000, passages: 10_000, problems: 0 })
})
