// When an operator does not want to be disturbed: from one time of day to another, in their own time zone.

import type { QuietHours } from '../../domain/settings/channel-settings.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

/** Gives the epoch ms at which the quiet time ends that holds at `at`; null: it is not quiet then. */
export function createQuietUntil({ from, to, timeZone }: QuietHours): (at: number) => number | null {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

  function minuteOfDay(at: number): number {
    const [hours = 0, minutes = 0] = parts.format(at).split(':').map(Number)
    return hours * 60 + minutes
  }

  function isQuiet(at: number): boolean {
    const minute = minuteOfDay(at)
    return from <= to ? minute >= from && minute < to : minute >= from || minute < to
  }

  return (at) => {
    if (!isQuiet(at)) return null
    const left = (to - minuteOfDay(at) + DAY_MINUTES) % DAY_MINUTES
    const start = Math.floor(at / MINUTE_MS) * MINUTE_MS
    const end = start + left * MINUTE_MS
    if (!isQuiet(end) && isQuiet(end - MINUTE_MS)) return end
    // The clocks change before the end. Then it comes earlier or later, or there is no such time on that day.
    let time = start
    while (isQuiet(time)) time += MINUTE_MS
    return time
  }
}
