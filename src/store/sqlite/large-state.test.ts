import { expect, test } from 'vitest'
import { newSession } from '../contract/samples.contract.ts'
import { createSqliteStore } from './sqlite-store.ts'

test('a state of an earlier version that is too large is not read, and the next one takes its place', async () => {
  const store = createSqliteStore({
    path: ':memory:',
    fatal: (error) => {
      throw error
    },
  })
  const session = newSession({ state: 'x'.repeat(2_000_000) })
  await store.commit([{ type: 'create_session', session }])
  expect((await store.sessions.get(session.id))?.state).toBe(undefined)

  await store.commit([{ type: 'update_session', sessionId: session.id, state: { small: true } }])
  expect((await store.sessions.get(session.id))?.state).toEqual({ small: true })
  await store.close()
})
