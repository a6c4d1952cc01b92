// A year with both changes of the clocks, three servers on one store, and servers that die between any two things that they do.

import { expect, test } from 'vitest'
import type { ScheduleSettings } from '../domain/agent/schedule.ts'
import type { Schedules } from './schedules.ts'
import { mortal } from './testing/mortal.ts'
import { createTestClock, daily, openTestSchedules } from './testing/open-schedules.ts'
import { timesOf } from './times.ts'

const BEGIN = '2026-01-01T00:00:00Z'
const END = Date.parse('2027-01-01T00:00:00Z')

const settings: ScheduleSettings[] = [
  { ...daily, name: 'berlin', times: { type: 'cron', cron: '30 2 * * *', timeZone: 'Europe/Berlin' } },
  {
    ...daily,
    name: 'york',
    times: { type: 'cron', cron: '30 1,2 * * SUN', timeZone: 'America/New_York' },
    session: 'york',
  },
  {
    ...daily,
    name: 'howe',
    times: { type: 'cron', cron: '15 2 * * SUN', timeZone: 'Australia/Lord_Howe' },
    jitterMs: 60_000,
  },
  { ...daily, name: 'often', times: { type: 'every', ms: 2 * 86_400_000 } },
]

/** Pseudo-random numbers that are the same each time. */
function createRandom(seed: number) {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('in a year with kills and three servers, each time comes once', async () => {
  const clock = createTestClock(BEGIN)
  const { replica, store, notes, engine, pass, settle, close } = openTestSchedules({ clock, settings })
  const random = createRandom(7)
  const dead: Schedules[] = []
  const living: { schedules: Schedules; isDead: () => boolean }[] = []
  function born() {
    const life = mortal({ notes, engine }, 3 + random(60))
    const schedules = replica(life)
    void schedules.begin()
    living.push({ schedules, isDead: life.isDead })
  }

  const dues = settings
    .flatMap((one) => {
      const { next } = timesOf(one, clock.now())
      const found: { name: string; due: number }[] = []
      for (let due = next(clock.now()); due !== null && due < END; due = next(due)) found.push({ name: one.name, due })
      return found
    })
    .toSorted((a, b) => a.due - b.due)
  for (let i = 0; i < 3; i += 1) born()
  await settle()
  for (const { due } of dues) {
    if (due > clock.now()) await pass(due - clock.now())
    // With what is delayed, and with whoever looks again after a death.
    await pass(100_000, 20_000)
    for (const { schedules } of living.filter(({ isDead }) => isDead())) dead.push(schedules)
    living.splice(0, living.length, ...living.filter(({ isDead }) => !isDead()))
    while (living.length < 3) born()
  }
  await settle()

  const sessions = await store.sessions.list({ limit: 10_000 })
  const runs = (await Promise.all(sessions.map(({ id }) => store.runs.latest(id, 10_000)))).flat()
  const started = await Promise.all(runs.map(async ({ id }) => (await store.runs.get(id))?.input.context[0]))
  const found = started
    .map((one) => ({ name: one?.description.split(' ').at(5) ?? '', due: Date.parse(one?.value ?? '') }))
    .toSorted((a, b) => a.due - b.due)
  const sorted = (list: typeof dues) =>
    list.map(({ name, due }) => `${new Date(due).toISOString().slice(0, 16)} ${name}`).toSorted()
  expect(sorted(found)).toEqual(sorted(dues))
  // Once on each day of the calendar there.
  const days = found.filter(({ name }) => name === 'berlin')
  const inBerlin = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Berlin' })
  expect([days.length, new Set(days.map(({ due }) => inBerlin.format(due))).size]).toEqual([365, 365])
  expect(dead.length).toBeGreaterThan(50)
  await Promise.all(living.map(({ schedules, isDead }) => (isDead() ? null : schedules.close())))
  await close()
})
