import { expect, test } from 'vitest'
import { createSqliteStore } from '../store/sqlite/sqlite-store.ts'
import type { Store } from '../store/store.ts'
import { openEngine, outline } from './testing/open-engine.ts'

test('who sends to a store that does not confirm hears so in time, and the same request finds the run later', async () => {
  const real = createSqliteStore({ path: ':memory:', fatal() {} })
  const confirmed = Promise.withResolvers<void>()
  // As a Postgres whose standby is away: it commits, and says so only when the standby is back.
  const store: Store = {
    ...real,
    async commit(commands) {
      const done = await real.commit(commands)
      await confirmed.promise
      return done
    },
  }
  const { start, events, engine, close } = openEngine({ store, acceptWithinMs: 1 })
  const idempotency = { key: 'k', digest: 'd' }

  await expect(start('Hi', { idempotency })).rejects.toMatchObject({
    code: 'storage_failed',
    message: expect.stringContaining('Send the same request again'),
  })
  await expect(start('Hi', { idempotency })).rejects.toMatchObject({ code: 'storage_failed' })
  confirmed.resolve()

  await expect.poll(() => engine.stats().runsStarted, { timeout: 60_000 }).toBe(1)
  await expect.poll(() => engine.stats().runsFinished, { timeout: 60_000 }).toEqual({ completed: 1 })
  let again = null
  // One millisecond is little, even for a store that works.
  while (again === null) again = await start('Hi', { idempotency }).catch(() => null)
  expect(again.existing).toBe(true)
  expect(outline(await events(again)).at(-1)).toBe('RUN_FINISHED success')
  expect((await real.messages.all(again.session.id)).filter(({ role }) => role === 'user')).toHaveLength(1)
  await close()
})
