// What is done once an hour is done by one replica.

import type { Checker } from '../evidence.ts'

/** So long a life must have gone on without trouble for others to know that it has done the job. */
const NOTED_MS = 3_000
const HOUR_MS = 3_600_000

export const hourly: Checker = {
  name: 'hourly',
  check: ({ history, faults }) =>
    history.hourly.flatMap(({ life, at }, i) => {
      const end = history.lives.find(({ number }) => number === life)?.to ?? Number.POSITIVE_INFINITY
      const hadTrouble = history.troubles.some(({ from, to }) => from < at + NOTED_MS && to > at)
      if (end < at + NOTED_MS || hadTrouble || faults.disk.callFails > 0) return []
      const again = history.hourly.slice(i + 1).find((other) => other.at < at + HOUR_MS)
      return again === undefined ? [] : [`life ${again.life} did the hourly job ${again.at - at} ms after life ${life}`]
    }),
}
