import { expect, test } from 'vitest'
import { LOCAL_USER } from '../src/domain/session/session.ts'
import { createSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { HISTORY_THREAD, seed } from './seed.ts'

test('seeds sessions that the store finds by name, with their messages, runs and log', async () => {
  const store = createSqliteStore({
    path: ':memory:',
    fatal: (error) => {
      throw error
    },
  })
  const now = Date.parse('2026-11-15T00:00:00Z')

  await seed(store, { sessions: 450, history: 120, copies: 2 }, now)

  const long = await store.sessions.byAlias(LOCAL_USER, HISTORY_THREAD)
  const last = await store.sessions.byAlias(LOCAL_USER, 'seed-449')
  const copy = await store.sessions.byAlias(LOCAL_USER, `${HISTORY_THREAD}-1`)
  expect([long?.messageCount, last?.messageCount, copy?.messageCount]).toEqual([120, 2, 120])
  expect(await store.sessions.byAlias(LOCAL_USER, 'seed-450')).toBe(null)
  expect((await store.messages.page(long?.id ?? '', 3)).map((message) => message.id)).toEqual([
    `${HISTORY_THREAD}-58-a`,
    `${HISTORY_THREAD}-59-q`,
    `${HISTORY_THREAD}-59-a`,
  ])
  expect(await store.head(long?.id ?? '')).toBe(360)
  expect((await store.runs.byWireId(last?.id ?? '', 'seed-449-run-0'))?.status).toBe('completed')
  expect((await store.entries(last?.id ?? '', 0, 10)).map((entry) => entry.kind)).toEqual([
    'fact',
    'event',
    'event',
    'event',
    'event',
    'event',
  ])
  await store.close()
})
