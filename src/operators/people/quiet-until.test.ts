import { expect, test } from 'vitest'
import { createQuietUntil } from './quiet-until.ts'

const night = { from: 22 * 60, to: 7 * 60 }
const berlin = { ...night, timeZone: 'Europe/Berlin' }
const noon = { from: 12 * 60, to: 13 * 60, timeZone: 'Asia/Kolkata' }

test.each([
  // Winter in Berlin is UTC+1.
  ['in the evening', berlin, '2026-01-15T21:30:00Z', '2026-01-16T06:00:00Z'],
  ['after midnight', berlin, '2026-01-16T03:00:20Z', '2026-01-16T06:00:00Z'],
  ['in its first minute', berlin, '2026-01-15T21:00:00Z', '2026-01-16T06:00:00Z'],
  ['before it', berlin, '2026-01-15T20:59:59Z', null],
  ['at its end', berlin, '2026-01-16T06:00:00Z', null],
  // Summer in Berlin is UTC+2.
  ['in summer', berlin, '2026-07-15T21:30:00Z', '2026-07-16T05:00:00Z'],
  // On 29 March 2026 the clocks go from 02:00 to 03:00, on 25 October from 03:00 to 02:00.
  ['when the night is shorter', berlin, '2026-03-28T22:00:00Z', '2026-03-29T05:00:00Z'],
  ['when the night is longer', berlin, '2026-10-24T21:00:00Z', '2026-10-25T06:00:00Z'],
  ['in the hour that comes twice', { ...berlin, to: 150 }, '2026-10-24T23:30:00Z', '2026-10-25T00:30:00Z'],
  ['when its end does not exist', { ...berlin, to: 150 }, '2026-03-29T00:30:00Z', '2026-03-29T01:00:00Z'],
  ['within a day, half an hour beside UTC', noon, '2026-01-15T07:15:00Z', '2026-01-15T07:30:00Z'],
  ['outside of it', noon, '2026-01-15T07:30:00Z', null],
  ['never, if it ends when it begins', { ...berlin, to: 22 * 60 }, '2026-01-15T21:00:00Z', null],
])('%s', (_when, quiet, at, until) => {
  const found = createQuietUntil(quiet)(Date.parse(at))

  expect(found === null ? null : new Date(found).toISOString()).toBe(until?.replace('Z', '.000Z') ?? null)
})
