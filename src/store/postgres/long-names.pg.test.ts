import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openTestDatabase } from '../../../test/postgres/test-database.ts'
import {
  accept,
  acceptedRun,
  append,
  commit,
  create,
  newMessage,
  newSession,
  refusal,
} from '../contract/samples.contract.ts'
import { openTestPostgres } from './testing/open-postgres.ts'

/** Postgres would compress a text that repeats itself. */
const long = (): string => randomBytes(3_000).toString('hex')

test('a name that does not fit into an index is refused alone, and the client is told', async () => {
  const { url, drop } = await openTestDatabase()
  const store = await openTestPostgres(url)
  const session = newSession()
  const run = await acceptedRun(store, accept(session))

  expect(await refusal(store, create(newSession({ alias: long() })))).toBe('invalid_request')
  expect(await refusal(store, accept(newSession(), { run: { wireId: long() } }))).toBe('invalid_request')
  expect(await refusal(store, append(run, [], { messages: [newMessage(long())] }))).toBe('invalid_request')
  const idempotency = { key: long(), digest: 'd', expiresAt: 2_000_000_000_000 }
  const [refused, accepted] = await commit(store, accept(newSession(), { idempotency }), create(newSession()))
  expect([refused?.ok, accepted?.ok]).toEqual([false, true])
  expect(await store.sessions.byAlias(session.owner, long())).toBe(null)

  await store.close()
  await drop()
})
