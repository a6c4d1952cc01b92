import { expect, test } from 'vitest'
import { createMemoryEventStore } from './event-store.ts'

const message = (n: number) => ({ jsonrpc: '2.0' as const, method: `m${n}` })

test('gives the later events of the same stream, in order', async () => {
  const store = createMemoryEventStore()
  const ids: string[] = []
  for (const [i, stream] of ['a', 'b', 'a', 'a', 'b'].entries()) ids.push(await store.append(stream, message(i)))

  expect(await store.readAfter(ids[0] ?? '')).toEqual([
    { id: ids[2], message: message(2) },
    { id: ids[3], message: message(3) },
  ])
  expect(await store.streamOf(ids[4] ?? '')).toBe('b')
  expect(new Set(ids).size).toBe(5)
})

test.each([
  ['events', { events: 3, bytes: 1_000_000 }],
  ['bytes', { events: 1_000, bytes: 3 * JSON.stringify(message(0)).length }],
])('forgets the oldest when there are too many %s, and says so', async (_what, limits) => {
  const store = createMemoryEventStore(limits)
  const ids: string[] = []
  for (let i = 0; i < 5; i += 1) ids.push(await store.append('a', message(i)))

  expect(await Promise.all(ids.map((id) => store.streamOf(id)))).toEqual([null, null, 'a', 'a', 'a'])
  expect(await store.readAfter(ids[1] ?? '')).toEqual([])
  expect((await store.readAfter(ids[2] ?? '')).length).toBe(2)
})

test('keeps the newest even if it is too large', async () => {
  const store = createMemoryEventStore({ events: 10, bytes: 5 })
  await store.append('a', message(1))

  expect(await store.streamOf(await store.append('a', message(2)))).toBe('a')
})

test.each(['', '0', '-1', '1e0', '__proto__', '99'])('knows no event %j', async (id) => {
  const store = createMemoryEventStore()
  await store.append('a', message(1))

  expect(await store.streamOf(id)).toBe(null)
})
