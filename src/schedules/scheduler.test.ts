import { expect, test } from 'vitest'
import { type TestEngineOptions, testAgent, testTool } from '../engine/testing/open-engine.ts'
import { mortal } from './testing/mortal.ts'
import { createTestClock, daily, openTestSchedules } from './testing/open-schedules.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A run that waits for an approval, and then says that it is done. */
const asksToPay: TestEngineOptions = {
  answers: [{ parts: [{ tool_call: { name: 'pay', arguments: {} } }] }, { parts: [{ text: 'Paid.' }] }],
  tools: [
    testTool({
      name: 'pay',
      call: async () => ({ content: 'done', isError: false }),
      effect: 'once',
      risk: 'critical',
    }),
  ],
  agent: { approval: { ...testAgent.approval, default: { ask: 'always' } } },
}

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
  const settings = [{ ...daily, missed, notify: ['webhook:pager'] }]
  const { replica, started, told, pass, settle, close } = openTestSchedules({ clock, settings })
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
  expect(told.map(({ sessionId, level }) => [sessionId !== null, level])).toEqual(
    outcomes.map((outcome) => (outcome === 'missed' ? [false, 'error'] : [true, 'success'])).reverse(),
  )
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

test('the clock set back or forward starts nothing twice', async () => {
  const clock = createTestClock('2026-05-01T07:00:00Z')
  const { replica, started, store, pass, settle, close } = openTestSchedules({ clock })
  const schedules = replica()
  await schedules.begin()
  await pass(2 * HOUR, HOUR / 60)
  // Back by an hour and a half: 8:00 comes again.
  clock.set(-1.5 * HOUR)
  await pass(2 * HOUR, HOUR / 4)
  expect(await started()).toEqual(['2026-05-01T08:00'])
  // A month ahead, and right again: what would be due in that month is due.
  clock.set(30 * DAY)
  await pass(60_000)
  clock.set(-30 * DAY)
  await pass(DAY, HOUR / 4)

  const sessions = await store.sessions.list({ limit: 100 })
  const dues = await Promise.all(
    sessions.map(async ({ id }) => {
      const [run] = await store.runs.latest(id, 1)
      return (await store.runs.get(run?.id ?? ''))?.input.context[0]?.value
    }),
  )
  expect(dues.toSorted()).toEqual(['2026-05-01T08:00:00.000Z', '2026-05-02T08:00:00.000Z'])
  await settle()
  await schedules.close()
  await close()
})

test('a run that waits for a person is found again after a kill, and the next time says that the session waits', async () => {
  const clock = createTestClock('2026-05-01T07:59:00Z')
  const opened = openTestSchedules({
    clock,
    settings: [{ ...daily, session: 'reports', notify: ['slack:C1'] }],
    engine: asksToPay,
  })
  const { replica, notes, engine, started, told, pass, settle, close } = opened
  // It dies when it has started the run, before it writes that.
  const life = mortal({ notes, engine }, 1, (name) => name === 'start')
  void replica(life).begin()
  await pass(2 * 60_000, 10_000)
  expect([life.isDead(), await started()]).toEqual([true, ['2026-05-01T08:00']])

  const schedules = replica()
  await schedules.begin()
  await settle()
  expect((await schedules.get('tester.daily')).past).toMatchObject([{ outcome: 'started', status: 'waiting' }])
  await pass(DAY, HOUR / 4)
  expect((await schedules.get('tester.daily')).past).toMatchObject([
    { outcome: 'failed', runId: null, why: expect.stringContaining('waits for an answer') },
    { outcome: 'started', status: 'waiting' },
  ])
  const text = expect.stringMatching(/^daily was not started\. .*waits for an answer/)
  expect(told).toMatchObject([{ channel: 'slack:C1', sessionId: null, by: 'server', level: 'error', text }])
  expect(await started()).toEqual(['2026-05-01T08:00'])
  await schedules.close()
  await close()
})

test('tells channels the answer, once the run and what continued it have ended', async () => {
  const clock = createTestClock('2026-05-01T07:59:00Z')
  const { replica, told, approvals, store, pass, settle, close } = openTestSchedules({
    clock,
    settings: [{ ...daily, notify: ['webhook:pager', 'webhook:gone'] }],
    engine: asksToPay,
  })
  const schedules = replica()
  await schedules.begin()
  await pass(2 * 60_000, 10_000)
  expect(told).toEqual([])
  const [wait] = await store.waits.list({ limit: 10 })
  await approvals.decide({ user: 'ada', role: 'operator' }, wait?.id ?? '', { decision: 'approve' })
  await settle()
  await pass(60_000, 5_000)

  const { past } = await schedules.get('tester.daily')
  expect(past).toMatchObject([{ outcome: 'started', status: 'completed', isTold: true }])
  expect(told).toMatchObject([
    { channel: 'webhook:pager', level: 'success', by: 'agent', sessionId: past[0]?.sessionId, text: 'daily: Paid.' },
  ])
  await schedules.close()
  await close()
})
