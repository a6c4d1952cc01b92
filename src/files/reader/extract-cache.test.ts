import { mkdtemp, readdir, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Clock } from '../../domain/clock.ts'
import { createSystemClock } from '../../domain/clock.ts'
import type { Extract } from '../../domain/session/file.ts'
import type { ReadableFile } from '../file-reader.ts'
import { createExtractCache, sweepExtracts } from './extract-cache.ts'
import { writeExtract } from './extract-file.ts'

const DAY = 86_400_000

let folder: string
let now: number
const clock: Clock = { ...createSystemClock(), now: () => now }
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'extract-cache-'))
  now = Date.now()
})
afterEach(() => rm(folder, { recursive: true }))

const open = (maxBytes = 1_000_000, settings = '') => createExtractCache({ folder, clock, maxBytes, settings })
const file = (digit: string): ReadableFile => ({
  path: '/x',
  mimeType: 'text/plain',
  bytes: 1,
  sha256: digit.repeat(64),
})
const words = (text: string): Extract => ({ sections: [{ label: '', text }], notes: [] })

async function keep(cache: ReturnType<typeof open>, digit: string, text: string): Promise<Extract | null> {
  const path = join(folder, 'written')
  await writeExtract(path, words(text))
  return cache.keep(file(digit), path)
}

test('an extract is found by hash, type and settings', async () => {
  const cache = open()
  expect(await keep(cache, 'a', 'ahoy')).toEqual(words('ahoy'))

  expect(await cache.find(file('a'))).toEqual(words('ahoy'))
  expect(await cache.find(file('b'))).toBe(null)
  expect(await cache.find({ ...file('a'), mimeType: 'text/csv' })).toBe(null)
  expect(await open(1_000_000, 'eng+deu').find(file('a'))).toBe(null)
})

test('a refusal is kept for a day, or until the file can be read', async () => {
  const cache = open()
  await cache.keepRefusal(file('a'), 'It is\nlocked.')
  const found = async () => [await cache.find(file('a')), await cache.find(file('b'))]
  const refused = [{ refused: 'It is locked.' }, null]

  expect(await found()).toEqual(refused)
  expect(await open(1_000_000, 'eng+deu').find(file('a'))).toBe(null)
  now += DAY - 1_000
  expect(await found()).toEqual(refused)
  now += 2_000
  expect(await found()).toEqual([null, null])
  await cache.keepRefusal(file('a'), 'It is locked.')
  expect(await keep(cache, 'a', 'ahoy')).toEqual(words('ahoy'))
  expect(await found()).toEqual([words('ahoy'), null])
})

test('the text of a file is never mistaken for a refusal', async () => {
  const cache = open()
  await keep(cache, 'a', 'refused: x\n')

  expect(await cache.find(file('a'))).toEqual(words('refused: x\n'))
})

test('an incomplete refusal is ignored', async () => {
  const cache = open()
  await cache.keepRefusal(file('a'), 'It is locked.')
  const [name = ''] = await readdir(folder)
  await truncate(join(folder, name), 12)

  expect(await cache.find(file('a'))).toBe(null)
})

test('an incomplete extract is not kept', async () => {
  expect(await open().keep(file('a'), join(folder, 'nothing'))).toBe(null)
  expect(await readdir(folder)).toEqual([])
})

test('the least recently used extracts are removed when the cache is full', async () => {
  const cache = open(3_300)
  const text = 'x'.repeat(1_000)
  for (const digit of ['a', 'b', 'c']) {
    await keep(cache, digit, text)
    now -= 1_000
    await cache.find(file(digit))
  }
  now += 60_000
  await cache.find(file('c'))
  await keep(cache, 'd', text)

  const left = await Promise.all(['a', 'b', 'c', 'd'].map(async (digit) => (await cache.find(file(digit))) !== null))
  expect(left).toEqual([false, false, true, true])
})

test('extracts and refusals of deleted files are removed', async () => {
  const cache = open()
  for (const digit of ['a', 'b']) await keep(cache, digit, digit)
  await cache.keepRefusal(file('c'), 'It is locked.')
  const asked: (readonly string[])[] = []
  await sweepExtracts(folder, async (hashes) => {
    asked.push(hashes.toSorted())
    return ['b'.repeat(64)]
  })

  expect(asked).toEqual([['a', 'b', 'c'].map((digit) => digit.repeat(64))])
  expect((await readdir(folder)).map((name) => name.slice(0, 3))).toEqual(['bbb'])
  await sweepExtracts(join(folder, 'none'), async () => [])
})
