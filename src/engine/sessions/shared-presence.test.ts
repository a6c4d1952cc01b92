import { expect, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { createMemoryReaderRows } from '../../store/testing/memory-reader-rows.ts'
import { describePresence } from './presence.contract.ts'
import { createSharedPresence } from './shared-presence.ts'

const RUN = { sessionId: 'session', runId: 'run', graceMs: 10_000 }

function openTwo() {
  const clock = createManualClock()
  const live = ['here', 'there']
  const rows = createMemoryReaderRows(() => live)
  const isAway = { rows: false }
  const asked: string[][] = []
  const flaky: typeof rows = {
    ...rows,
    async change(...args) {
      if (isAway.rows) throw new Error('away')
      await rows.change(...args)
    },
    async readElsewhere(replica, sessionIds) {
      asked.push([...sessionIds])
      if (isAway.rows) throw new Error('away')
      return rows.readElsewhere(replica, sessionIds)
    },
  }
  const presenceOf = (replica: string) =>
    createSharedPresence({
      rows: flaky,
      replica,
      clock,
      logger: silentLogger,
      isAlone: () => live.length === 1,
    })
  const [here, there] = [presenceOf('here'), presenceOf('there')]
  let isAbandoned = false
  const attend = () =>
    here.attend(RUN, () => {
      isAbandoned = true
    })
  return { clock, rows, live, isAway, asked, here, there, attend, isAbandoned: () => isAbandoned }
}

describePresence('shared', async () => {
  const { clock, here, there } = openTwo()
  return { here, there, pass: clock.advance }
})

test('the readers of a process that died do not keep a run alive', async () => {
  const { clock, live, there, attend, isAbandoned } = openTwo()
  attend()
  there.arrive('session', 'run')
  await clock.advance(60_000)
  expect(isAbandoned()).toBe(false)

  live.splice(1)
  await clock.advance(11_500)
  expect(isAbandoned()).toBe(true)
})

test('a reader that comes and goes costs at most one change of a row a second', async () => {
  const { clock, rows, there } = openTwo()
  for (let i = 0; i < 100; i += 1) {
    const leave = there.arrive('session', 'run')
    await clock.advance(i % 2 === 0 ? 40 : 60)
    leave()
  }

  await clock.advance(2_000)
  expect(rows.writes).toBeLessThanOrEqual(6)
  expect(rows.all()).toEqual([])
})

test('readers of a run that executes in their own process need no row, and get one when it goes elsewhere', async () => {
  const { clock, rows, here, attend } = openTwo()
  const detach = attend()
  here.arrive('session', 'run')
  await clock.advance(5_000)
  expect(rows.writes).toBe(0)

  detach()
  await clock.advance(2_000)
  expect(rows.all()).toEqual([{ replica: 'here', sessionId: 'session', runId: 'run' }])
})

test('while nobody else lives nothing is written or asked, and whoever comes later finds the readers', async () => {
  const { clock, rows, live, asked, here, attend, isAbandoned } = openTwo()
  live.splice(1)
  attend()
  const leave = here.arrive('other session')
  await clock.advance(9_000)
  expect([rows.writes, asked, isAbandoned()]).toEqual([0, [], false])
  await clock.advance(1_000)
  expect(isAbandoned()).toBe(true)

  live.push('there')
  await clock.advance(2_000)
  expect(rows.all()).toEqual([{ replica: 'here', sessionId: 'other session', runId: null }])
  leave()
  await clock.advance(2_000)
  expect(rows.all()).toEqual([])
})

test('while the store is away no run is abandoned, and afterwards the rows are as they should be', async () => {
  const { clock, rows, isAway, here, there, attend, isAbandoned } = openTwo()
  attend()
  const leave = there.arrive('session', 'run')
  const gone = here.arrive('session', 'earlier run')
  await clock.advance(5_000)
  isAway.rows = true
  leave()
  gone()
  there.arrive('other session')
  await clock.advance(60_000)
  expect(isAbandoned()).toBe(false)

  isAway.rows = false
  await clock.advance(2_500)
  expect(rows.all()).toEqual([{ replica: 'there', sessionId: 'other session', runId: null }])
  expect(isAbandoned()).toBe(false)
  await clock.advance(9_000)
  expect(isAbandoned()).toBe(true)
})

test('a process that stops takes its rows with it', async () => {
  const { clock, rows, there } = openTwo()
  there.arrive('session')
  await clock.advance(2_000)
  expect(rows.all()).toHaveLength(1)

  await there.close()
  expect(rows.all()).toEqual([])
  await clock.advance(60_000)
  expect(clock.pending).toBe(0)
})
