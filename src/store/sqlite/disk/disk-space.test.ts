import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { append, newRun, newSession, pieces, text } from '../../contract/samples.contract.ts'
import { createDiskSpace, writtenBy } from './disk-space.ts'

test.runIf(process.platform === 'linux').each([
  ['says nothing about its size', '/proc'],
  ['cannot be asked', '/no/such/folder'],
])('a disk that %s has space', (_what, folder) => {
  const space = createDiskSpace(new DatabaseSync(':memory:'), folder)
  space.look()
  space.refuse({ type: 'add_audit', audit: [] })

  expect(space.hasSpace()).toBe(true)
})

test('pieces of text that came together do not count their frame again', () => {
  const run = newRun(newSession().id)
  const words = Array.from({ length: 200 }, (_, i) => `word ${i} `)

  const plain = writtenBy(
    append(
      run,
      words.map((word) => text(word)),
    ),
  )
  expect(writtenBy(append(run, pieces(words)))).toBeLessThan(plain * 1.3)
})
