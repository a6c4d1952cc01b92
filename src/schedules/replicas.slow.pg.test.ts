// Two servers on one real Postgres, each with an engine and connections of its own.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/postgres/test-database.ts'
import { createSystemClock } from '../domain/clock.ts'
import { silentLogger } from '../domain/logger.ts'
import { createLocalPresence } from '../engine/sessions/presence.ts'
import { openEngine, testAgent } from '../engine/testing/open-engine.ts'
import { createNotes } from '../log/notes.ts'
import { openTestPostgres } from '../store/postgres/testing/open-postgres.ts'
import { createSchedules } from './schedules.ts'
import { daily } from './testing/open-schedules.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.drop())

const clock = createSystemClock()
const settings = [
  { ...daily, name: 'own', times: { type: 'every', ms: 1_000 } as const },
  { ...daily, name: 'same', times: { type: 'every', ms: 1_000 } as const, session: 'watch' },
]

async function openReplica(leaseOwner: string) {
  const store = await openTestPostgres(database.url, { clock, writerId: leaseOwner })
  const presence = createLocalPresence(clock)
  const opened = openEngine({ clock, store, presence, leaseOwner, isOnlyProcess: false })
  const { engine, log, ids } = opened
  const schedules = createSchedules({
    agents: [{ ...testAgent, schedules: settings }],
    ...{ engine, clock, ids, logger: silentLogger, channels: [] },
    notes: createNotes({ log, outbox: store.outbox, clock }),
    queue: async () => {},
    asHolder: (work) => work(),
    tellOthers: async () => {},
  })
  return { schedules, close: opened.close, store }
}

test('two servers that look at the same moment start one run for each time', { timeout: 60_000 }, async () => {
  const [a, b] = await Promise.all([openReplica('a'), openReplica('b')])
  await Promise.all([a.schedules.begin(), b.schedules.begin()])
  await new Promise((resolve) => setTimeout(resolve, 6_500))
  await Promise.all([a.schedules.close(), b.schedules.close()])

  const sessions = await a.store.sessions.list({ limit: 100 })
  const runs = (await Promise.all(sessions.map(({ id }) => a.store.runs.latest(id, 100)))).flat()
  const contexts = await Promise.all(runs.map(async ({ id }) => (await a.store.runs.get(id))?.input.context[0]))
  for (const name of ['own', 'same']) {
    const dues = contexts.flatMap((one) => (one?.description.split(' ').includes(name) ? [one.value] : [])).toSorted()
    const { past, state } = await b.schedules.get(`tester.${name}`)
    expect([dues.length >= 5, dues]).toEqual([true, [...new Set(dues)]])
    expect(past.map(({ outcome, due }) => [outcome, new Date(due).toISOString()]).toReversed()).toEqual(
      dues.map((due) => ['started', due]),
    )
    expect(state.runs).toBe(dues.length)
  }
  await a.close()
  await b.close()
})
