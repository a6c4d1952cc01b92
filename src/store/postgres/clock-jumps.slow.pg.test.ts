// The clock of a machine is set while its server runs, or that of the database's machine. Leases, limits and jobs go on as before.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { breakMachine } from '../../../test/crash/support/broken-machine.ts'
import { startPostgres } from '../../../test/postgres/server.ts'
import { askOnce, openTestDatabase } from '../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../domain/clock.ts'
import { accept, done, newSession } from '../contract/samples.contract.ts'
import { openTestPostgres } from './testing/open-postgres.ts'

const MINUTE = 60_000

async function openReplica(url: string, leaseOwner: string) {
  const system = createSystemClock()
  let jump = 0
  const clock = { ...system, now: () => system.now() + jump }
  const store = await openTestPostgres(url, { clock })
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

test.for([-600, 600])(
  'a jump of Postgres’s own clock by %i s ends no lease, no record and no hold of a job',
  async (seconds, { skip }) => {
    const directory = mkdtempSync(join(tmpdir(), 'quarterdeck-clock-'))
    chmodSync(directory, 0o755)
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const machine = await breakMachine({ directory })
    if (machine === null) return skip('Skipped: a library for LD_PRELOAD cannot be compiled here.')
    const server = await startPostgres({ env: machine.env })
    onTestFinished(() => server.discard())
    const [one, other] = [await openReplica(server.url, 'one'), await openReplica(server.url, 'other')]
    await done(one.store, accept(newSession(), { leaseOwner: 'one' }))
    const { shared } = one.store
    async function renewAll() {
      await one.renew()
      const isHeld = await shared.hold('job', 'one', MINUTE)
      const expiresAt = Date.now() + MINUTE
      await shared.put({ kind: 'replica', key: 'one', value: '', version: null, expiresAt })
      return isHeld
    }
    async function seenByOther() {
      const isFree = await other.store.shared.hold('job', 'other', MINUTE)
      const heard = (await other.store.shared.list('replica')).map(({ key }) => key)
      return { isFree, heard, orphans: await other.orphans() }
    }
    const ahead = async () => {
      const [row] = await askOnce(server.url, 'SELECT extract(epoch FROM clock_timestamp()) AS now')
      return Math.round((Number(row?.now) - Date.now() / 1_000) / 60)
    }
    const alive = { isFree: false, heard: ['one'], orphans: [] }
    expect([await renewAll(), await seenByOther(), await ahead()]).toEqual([true, alive, expect.closeTo(0)])

    await machine.moveClocks({ wall: seconds * 1_000 })
    expect([await seenByOther(), await ahead()]).toEqual([alive, seconds / 60])
    expect([await renewAll(), await seenByOther()]).toEqual([true, alive])
    await machine.moveClocks({ wall: 0 })
    expect([await seenByOther(), await renewAll(), await seenByOther()]).toEqual([alive, true, alive])
  },
)
