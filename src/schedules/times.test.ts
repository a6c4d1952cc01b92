import { describe, expect, test } from 'vitest'
import type { ScheduleTimes } from '../domain/agent/schedule.ts'
import { delayOf, timesOf, timesProblem } from './times.ts'

const DAY_MS = 86_400_000
const cron = (text: string, timeZone = 'UTC'): ScheduleTimes => ({ type: 'cron', cron: text, timeZone })

/** All due times after `from`, and up to `to`. */
function between(times: ScheduleTimes, from: string, to: string, until: number | null = null): string[] {
  const { next } = timesOf({ times, until }, Date.parse(from))
  const found: string[] = []
  for (let at = next(Date.parse(from)); at !== null && at <= Date.parse(to); at = next(at)) {
    found.push(new Date(at).toISOString().slice(0, 16))
  }
  return found
}

describe('when the clocks change', () => {
  test.each([
    // 02:00 is followed by 03:00.
    ['Europe/Berlin', '30 2 * * *', '2026-03-28', ['03-28T01:30', '03-29T01:00', '03-30T00:30']],
    ['America/New_York', '30 2 * * *', '2026-03-07', ['03-07T07:30', '03-08T07:00', '03-09T06:30']],
    // 02:00 is followed by 02:30: half an hour is missing.
    ['Australia/Lord_Howe', '15 2 * * *', '2026-10-02', ['10-02T15:45', '10-03T15:30', '10-04T15:15']],
    // Midnight is missing.
    ['America/Santiago', '0 0 * * *', '2026-09-05', ['09-05T04:00', '09-06T04:00', '09-07T03:00']],
  ])('in %s, a time of day that does not exist is the first moment after the gap: %s', (zone, text, from, expected) => {
    const to = new Date(Date.parse(from) + 2.9 * DAY_MS).toISOString()
    expect(between(cron(text, zone), `${from}T00:00:00Z`, to)).toEqual(expected.map((at) => `2026-${at}`))
  })

  test.each([
    ['Europe/Berlin', '30 2 * * *', '2026-10-24', ['10-24T00:30', '10-25T00:30', '10-26T01:30']],
    ['America/New_York', '30 1 * * *', '2026-10-31', ['10-31T05:30', '11-01T05:30', '11-02T06:30']],
    ['Australia/Lord_Howe', '45 1 * * *', '2026-04-03', ['04-03T14:45', '04-04T14:45', '04-05T15:15']],
  ])('in %s, a time of day that exists twice counts once, the first time: %s', (zone, text, from, expected) => {
    const to = new Date(Date.parse(from) + 2.9 * DAY_MS).toISOString()
    expect(between(cron(text, zone), `${from}T00:00:00Z`, to)).toEqual(expected.map((at) => `2026-${at}`))
  })

  test.each([
    ['Europe/Berlin', '2026-03-20', '2026-10-20'],
    ['America/New_York', '2026-03-01', '2026-10-25'],
    ['Australia/Lord_Howe', '2026-04-01', '2026-10-01'],
  ])('what is due every half hour in %s comes every half hour through both changes', (zone, ...days) => {
    for (const day of days) {
      const to = new Date(Date.parse(day) + 14 * DAY_MS).toISOString()
      const found = between(cron('*/30 * * * *', zone), `${day}T00:00:00Z`, to)
      expect(found).toHaveLength(14 * 48)
      const gaps = found.slice(1).map((at, index) => Date.parse(`${at}Z`) - Date.parse(`${found[index]}Z`))
      expect(new Set(gaps)).toEqual(new Set([30 * 60_000]))
    }
  })

  test('every so often knows no zone, and begins when the schedule does', () => {
    expect(between({ type: 'every', ms: 6 * 3_600_000 }, '2026-03-29T00:10:00Z', '2026-03-29T19:00:00Z')).toEqual([
      '2026-03-29T06:10',
      '2026-03-29T12:10',
      '2026-03-29T18:10',
    ])
  })
})

test('the last time is the one that going from time to time finds, wherever one looks from', () => {
  const all: [ScheduleTimes, number][] = [
    [cron('30 2 * * *', 'Europe/Berlin'), 400 * DAY_MS],
    [cron('*/7 3 * * MON', 'America/New_York'), 30 * DAY_MS],
    [cron('45 1 * * *', 'Australia/Lord_Howe'), 400 * DAY_MS],
    [{ type: 'every', ms: 7_777_000 }, 10 * DAY_MS],
    [{ type: 'at', at: Date.parse('2026-10-25T01:00:00Z') }, 400 * DAY_MS],
  ]
  const since = Date.parse('2026-01-01T00:00:00Z')
  for (const [times, span] of all) {
    const { next, last } = timesOf({ times, until: null }, since)
    for (let i = 0; i < 20; i += 1) {
      const from = since + Math.floor((i / 20) * span)
      const to = from + Math.floor(((i * 7) % 20) * (span / 60)) + (i % 3)
      let expected: number | null = null
      for (let at = next(from); at !== null && at <= to; at = next(at)) expected = at
      expect([times, i, last(from, to)]).toEqual([times, i, expected])
    }
  }
})

test('half a million missed times are skipped at once', () => {
  const { last } = timesOf({ times: cron('* * * * *', 'Europe/Berlin'), until: null }, 0)
  const began = performance.now()
  expect(last(Date.parse('2025-01-01T00:00:00Z'), Date.parse('2026-01-01T00:00:59.999Z'))).toBe(
    Date.parse('2026-01-01T00:00:00Z'),
  )
  expect(performance.now() - began).toBeLessThan(1_000)
})

test('nothing is due after the end', () => {
  const until = Date.parse('2026-01-03T00:00:00Z')
  const days = ['2026-01-02T00:00', '2026-01-03T00:00']
  expect(between(cron('@daily'), '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', until)).toEqual(days)
})

test('wrong times are explained', () => {
  const now = Date.parse('2026-06-01T00:00:00Z')
  const problems = [cron('61 * * * *'), cron('0 8 * *'), cron('* * * * * *'), cron('0 0 30 2 *'), cron('0 8 * * 1-5')]
  const example = 'Write minute, hour, day, month and weekday, e.g. cron: "0 8 * * 1-5" for 8:00 from Monday to Friday.'
  expect(problems.map((one) => timesProblem(one, now))).toEqual([
    `"61 * * * *" is not a cron expression: Invalid value for minute: 61. ${example}`,
    `"0 8 * *" is not a cron expression: invalid configuration format ('0 8 * *'), exactly five, six, or seven space separated parts are required. ${example}`,
    `"* * * * * *" is not a cron expression: mode '5-part' requires exactly 5 parts, but pattern '* * * * * *' has 6 parts. ${example}`,
    `"0 0 30 2 *" never comes. ${example}`,
    null,
  ])
  expect(timesProblem({ type: 'at', at: now }, now)).toBe(
    '2026-06-01T00:00:00.000Z is over. Write a time that is still to come.',
  )
})

test('the delay of a schedule is always the same, and those of many are spread', () => {
  const delays = Array.from({ length: 200 }, (_, index) => delayOf(`clerk.report-${index}`, 60_000))
  expect(delays.every((ms) => ms >= 0 && ms < 60_000)).toBe(true)
  expect(new Set(delays.map((ms) => Math.floor(ms / 10_000))).size).toBe(6)
  expect(delayOf('clerk.report-7', 60_000)).toBe(delays[7])
  expect(delayOf('clerk.report-7', 0)).toBe(0)
})
