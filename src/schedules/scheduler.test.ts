import { expect, test } from 'vitest'
import { createTestClock, daily, openTestSchedules } from './testing/open-schedules.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

test('starts a run of a new session at each time, and says what has become of it', async () => {
  const clock = createTestClock('2026-05-01T00:00:00Z')
  const { replica, started, pass, store, close } = openTestSchedules({ clock })
  const schedules = replica()
  await schedules.begin()
  await pass(3 * DAY, HOUR)

  expect(await started()).toEqual(['2026-05-01T08:00', '2026-05-02T08:00', '2026-05-03T08:00'])
  const { next, past, state } = await schedules.get('tester.daily')
  expect([next, state.runs]).toEqual([Date.parse('2026-05-04T08:00:00Z'), 3])
  expect(past.map(({ due, outcome, status }) => [due, outcome, status])).toEqual([
    [Date.parse('2026-05-03T08:00:00Z'), 'started', 'completed'],
    [Date.parse('2026-05-02T08:00:00Z'), 'started', 'completed'],
    [Date.parse('2026-05-01T08:00:00Z'), 'started', 'completed'],
  ])
  const run = await store.runs.get(past[0]?.runId ?? '')
  expect(run?.input).toMatchObject({
    messages: [{ role: 'user', content: 'Write the report.' }],
    context: [{ value: '2026-05-03T08:00:00.000Z' }],
  })
  expect(new Set(past.map(({ sessionId }) => sessionId)).size).toBe(3)
  await schedules.close()
  await close()
})

test('goes on in the same session, ends after its count, and looks no more', async () => {
  const clock = createTestClock('2026-05-01T00:00:00Z')
  const settings = [{ ...daily, session: 'reports', count: 2, inputs: { region: 'north' } }]
  const { replica, started, pass, close } = openTestSchedules({ clock, settings })
  const schedules = replica()
  await schedules.begin()
  await pass(4 * DAY, HOUR)

  expect(await started()).toEqual(['2026-05-01T08:00', '2026-05-02T08:00'])
  const { next, past } = await schedules.get('tester.daily')
  expect([next, new Set(past.map(({ sessionId }) => sessionId)).size]).toEqual([null, 1])
  await schedules.close()
  await close()
})

test.each([
  ['skip', ['2026-05-09T08:00'], ['started', 'missed']],
  ['once', ['2026-05-08T12:00', '2026-05-09T08:00'], ['started', 'started']],
] as const)('of a week without a server, %s makes %j', async (missed, runs, outcomes) => {
  const clock = createTestClock('2026-05-01T00:00:00Z')
  const { replica, started, pass, settle, close } = openTestSchedules({ clock, settings: [{ ...daily, missed }] })
  const first = replica()
  await first.begin()
  await settle()
  await first.close()
  clock.advance(7.5 * DAY)
  const second = replica()
  await second.begin()
  await pass(DAY, HOUR)

  expect(await started()).toEqual(runs)
  expect((await second.get('tester.daily')).past.map(({ outcome }) => outcome)).toEqual(outcomes)
  await second.close()
  await close()
})

test('a restart of some minutes misses nothing', async () => {
  const clock = createTestClock('2026-05-01T07:59:00Z')
  const { replica, started, settle, close } = openTestSchedules({ clock })
  const first = replica()
  await first.begin()
  await settle()
  await first.close()
  clock.advance(3 * 60_000)
  const second = replica()
  await second.begin()
  await settle()

  expect(await started()).toEqual(['2026-05-01T08:02'])
  await second.close()
  await close()
})
