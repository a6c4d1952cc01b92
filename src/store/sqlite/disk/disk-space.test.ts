import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createDiskSpace } from './disk-space.ts'

test.runIf(process.platform === 'linux').each([
  ['says nothing about its size', '/proc'],
  ['cannot be asked', '/no/such/folder'],
])('a disk that %s has space', (_what, folder) => {
  const space = createDiskSpace(new DatabaseSync(':memory:'), folder)
  space.look()
  space.refuse({ type: 'add_audit', audit: [] })

  expect(space.hasSpace()).toBe(true)
})
