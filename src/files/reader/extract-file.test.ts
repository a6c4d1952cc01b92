import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Extract } from '../../domain/session/file.ts'
import { readExtract, writeExtract } from './extract-file.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'extract-file-'))
})
afterAll(() => rm(folder, { recursive: true }))

const extract: Extract = {
  sections: [
    { label: 'page 1', text: 'a\u2028b\n"quoted" 😀' },
    { label: 'page 2', text: '' },
    { label: 'page 3', text: `${'é😀x'.repeat(40_000)}end` },
  ],
  notes: ['One picture was left out.'],
}

test('what is written is read back, long texts too', async () => {
  const path = join(folder, 'whole')
  await writeExtract(path, extract)

  expect(await readExtract(path)).toEqual(extract)
})

test('every line is short', async () => {
  const path = join(folder, 'lines')
  await writeExtract(path, extract)
  const lines = (await readFile(path, 'utf8')).split('\n')

  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(33_000)
})

test('a file that is missing, incomplete or something else is not an extract', async () => {
  const path = join(folder, 'cut')
  await writeExtract(path, extract)
  const text = await readFile(path, 'utf8')
  const others = [
    text.slice(0, -10),
    text.slice(0, 100),
    '',
    'null\n',
    '{"more":"x"}\n{"end":true}\n',
    `${text}{"notes":[]}\n`,
  ]
  const results = [await readExtract(join(folder, 'none'))]
  for (const other of others) {
    await writeFile(path, other)
    results.push(await readExtract(path))
  }

  expect(results).toEqual(Array(7).fill(null))
})
