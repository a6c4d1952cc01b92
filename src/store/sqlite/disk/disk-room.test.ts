import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createDiskRoom } from './disk-room.ts'

test.runIf(process.platform === 'linux').each([
  ['says nothing about its size', '/proc'],
  ['cannot be asked', '/no/such/folder'],
])('a disk that %s has room', (_what, folder) => {
  const room = createDiskRoom(new DatabaseSync(':memory:'), folder)
  room.look()
  room.refuse({ type: 'add_audit', audit: [] })

  expect(room.hasRoom()).toBe(true)
})
