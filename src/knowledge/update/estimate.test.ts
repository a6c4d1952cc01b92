import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { estimate } from './estimate.ts'
import { byLine, INDEX, never, settingsOf, testUpdater } from './testing/test-updater.ts'
import { newFolder, writeFiles } from './testing/write-files.ts'

const embedding = { price: 0.5 } as NonNullable<ReturnType<typeof settingsOf>['embedding']>

/** Each line is a passage of 30 bytes with its heading. */
const lines = (count: number): string => 'x'.repeat(20).concat('\n').repeat(count)

test('tells what an update would read and embed from a few files of each kind', async () => {
  const folder = await newFolder()
  const files = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`docs/${i + 100}.md`, lines(10)]))
  await writeFiles(folder, { ...files, 'docs/a.txt': lines(10), 'docs/empty.pdf': '' })
  const { deps, reads } = testUpdater(folder)
  const found = await estimate(INDEX, { ...settingsOf(folder), embedding }, deps, never)

  expect(found).toEqual({
    files: 102,
    bytes: 101 * 210,
    passages: 1_010,
    tokens: 1_010 * 10 - 10,
    cost: expect.closeTo(0.005045),
  })
  expect(reads).toHaveLength(6)
  expect(await deps.store.indexes()).toEqual([])
})

test('counts only what is new, and what is known but not embedded yet', async () => {
  const folder = await newFolder()
  await writeFiles(folder, { 'docs/100.md': lines(10), 'docs/101.md': lines(5) })
  const { deps, store, update } = testUpdater(folder, { prepare: byLine })
  await update()
  await writeFile(join(folder, 'docs/102.md'), lines(20))
  const settings = { ...settingsOf(folder), embedding }

  expect(await estimate(INDEX, settings, deps, never)).toEqual({
    ...{ files: 1, bytes: 420, passages: 22, tokens: 220, cost: expect.closeTo(0.00011) },
  })
  expect(await estimate(INDEX, settingsOf(folder), deps, never)).toMatchObject({ files: 1, passages: 20, tokens: 200 })
  const waiting = await store.unembedded(INDEX, 99)
  const vector = { code: Uint8Array.of(0), bytes: Int8Array.of(0), floats: Float32Array.of(0) }
  await store.putVectors(
    INDEX,
    waiting.map(({ digest }) => ({ digest, ...vector })),
  )
  expect(await estimate(INDEX, settings, deps, never)).toMatchObject({ passages: 20, tokens: 200 })
})
