import { expect, test } from 'vitest'
import { createSystemClock } from '../domain/clock.ts'
import { openTestStore } from '../store/sqlite/testing/open-test-store.ts'
import { createNotes } from './notes.ts'
import { createSessionLog } from './session-log.ts'
import { createLocalWake } from './wake.ts'

function openNotes() {
  const clock = createSystemClock()
  const store = openTestStore()
  const log = createSessionLog({ store, clock, wake: createLocalWake({ clock, pollMs: null }) })
  return { notes: createNotes({ log, outbox: store.outbox, clock }) }
}

test('loses nothing of many changes at once', async () => {
  const { notes } = openNotes()
  const add = () => notes.update('kept schedules', 'daily', (was) => String(Number(was ?? 0) + 1))
  const added = await Promise.all(Array.from({ length: 20 }, add))

  expect(new Set(added).size).toBe(20)
  expect(await notes.list('kept schedules')).toMatchObject([{ key: 'daily', value: '20' }])
  expect(await notes.list('kept memories')).toEqual([])
})

test('writes nothing when nothing changes, and nothing when the change is refused', async () => {
  const { notes } = openNotes()
  await notes.update('kept schedules', 'daily', () => 'one')
  const refuse = () => {
    throw new Error('no')
  }
  await expect(notes.update('kept schedules', 'daily', refuse)).rejects.toThrow('no')
  expect(await openNotes().notes.update('kept schedules', 'daily', (was) => was)).toBeNull()
})

test('removes a note', async () => {
  const { notes } = openNotes()
  await notes.update('kept memories', 'ann', () => 'a fact')
  expect(await notes.update('kept memories', 'ann', () => null)).toBeNull()
  expect(await notes.read('kept memories', 'ann')).toBeNull()
})
