import { type Clock, createSystemClock } from '../clock.ts'

const DAY_MS = 86_400_000

/** The clock of this machine, set to noon of its day in UTC: a test that counts by the day does not run into the next one. */
export function createNoonClock(): Clock {
  const clock = createSystemClock()
  const ahead = DAY_MS / 2 - (clock.now() % DAY_MS)
  return { ...clock, now: () => clock.now() + ahead }
}
