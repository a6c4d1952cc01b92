import { expect, test } from 'vitest'
import { createManualClock } from '../http/testing/server-fixture.ts'
import { createLocalShared } from './local-shared.ts'
import type { KeptKind } from './ports/shared.ts'
import { describeShared } from './shared.contract.ts'

describeShared('local', async () => {
  const clock = createManualClock()
  const shared = createLocalShared(clock)
  return { here: shared, there: shared, now: clock.now, pass: async (ms) => clock.advance(ms) }
})

describeShared('local, on disk', async () => {
  const clock = createManualClock()
  const kept = new Map(['device', 'code', 'token', 'secret', 'any'].map((kind) => [kind, createDisk()]))
  const shared = createLocalShared(clock, kept)
  return { here: shared, there: shared, now: clock.now, pass: async (ms) => clock.advance(ms) }
})

function createDisk(): KeptKind & { text: string } {
  return {
    text: '[]',
    read() {
      return JSON.parse(this.text)
    },
    write(records) {
      this.text = JSON.stringify(records.map(({ key, value, expiresAt }) => ({ key, value, expiresAt })))
    },
  }
}

const always = { version: null, expiresAt: null }

test('what is on disk is there after a restart, and is read at its first use', async () => {
  const clock = createManualClock()
  const disk = createDisk()
  const open = () => createLocalShared(clock, new Map([['device', disk]]))
  const before = open()
  await before.put({ kind: 'device', key: 'a', value: 'one', ...always })
  await before.put({ kind: 'device', key: 'b', value: 'two', version: null, expiresAt: clock.now() + 1_000 })
  await before.put({ kind: 'code', key: 'a', value: 'one', ...always })
  const values = async (kind: string) => (await after.list(kind)).map(({ value }) => value)

  clock.advance(1_000)
  const after = open()
  expect(await values('device')).toEqual(['one'])
  expect(await values('code')).toEqual([])
  await after.take('device', 'a')
  expect(disk.text).toBe('[]')
  disk.text = 'no JSON'
  open()
})

test('what cannot be written does not count', async () => {
  const disk = createDisk()
  const shared = createLocalShared(createManualClock(), new Map([['device', disk]]))
  await shared.put({ kind: 'device', key: 'a', value: 'one', ...always })
  disk.write = () => {
    throw new Error('the disk is full')
  }

  await expect(shared.put({ kind: 'device', key: 'b', value: 'two', ...always })).rejects.toThrow('the disk is full')
  await expect(shared.take('device', 'a')).rejects.toThrow('the disk is full')
  expect((await shared.list('device')).map(({ value }) => value)).toEqual(['one'])
})
