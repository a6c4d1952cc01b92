// The clock of a machine is set while its server runs. Leases and limits go on as before.

import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../domain/clock.ts'
import { silentLogger } from '../../domain/logger.ts'
import { accept, done, newSession } from '../contract/samples.contract.ts'
import { createPostgresStore } from './postgres-store.ts'

const MINUTE = 60_000

async function openReplica(url: string, leaseOwner: string) {
  const system = createSystemClock()
  let jump = 0
  const clock = { ...system, now: () => system.now() + jump }
  const store = await createPostgresStore({ url, clock, log: silentLogger })
  onTestFinished(() => store.close())
  return {
    store,
    jumpBy(ms: number) {
      jump += ms
    },
    renew: () => done(store, { type: 'renew_lease', leaseOwner, until: clock.now() + MINUTE }),
    orphans: async () => (await store.runs.orphans(clock.now(), 10)).map(({ id }) => id),
    leases: async () => (await store.figures()).leases?.map((until) => Math.sign(until - clock.now())),
    count: async () => {
      const [counted] = await store.shared.count('posts', [{ key: leaseOwner, n: 1 }], MINUTE)
      return Math.round(((counted?.endsAt ?? 0) - clock.now()) / MINUTE)
    },
  }
}

test.each([10, -10])('a jump of %i minutes makes no run an orphan and no lease last longer', async (minutes) => {
  const database = await openTestDatabase()
  onTestFinished(() => database.drop())
  const [one, other] = [await openReplica(database.url, 'one'), await openReplica(database.url, 'other')]
  for (const [replica, leaseOwner] of [
    [one, 'one'],
    [other, 'other'],
  ] as const) {
    await done(replica.store, accept(newSession(), { leaseOwner }))
    await replica.renew()
  }
  expect([await one.orphans(), await other.orphans()]).toEqual([[], []])

  one.jumpBy(minutes * MINUTE)

  expect([await one.orphans(), await other.orphans()]).toEqual([[], []])
  await one.renew()
  expect([await one.orphans(), await other.orphans()]).toEqual([[], []])
  expect([await one.leases(), await other.leases()]).toEqual([
    [1, 1],
    [1, 1],
  ])
  // A lease of the machine whose clock is wrong still ends.
  await done(one.store, { type: 'renew_lease', leaseOwner: 'one', until: 0 })
  expect(await other.orphans()).toHaveLength(1)
  expect([await one.count(), await one.count(), await other.count()]).toEqual([1, 1, 1])
})
