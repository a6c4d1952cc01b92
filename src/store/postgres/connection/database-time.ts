import type { Clock } from '../../../domain/clock.ts'
import { NOW, type Statement } from '../sql.ts'
import type { Database } from './database.ts'

/** What replicas whose clocks differ agree on. */
export interface DatabaseTime {
  /**
   * Milliseconds from the monotonic time of this process to the database's time. Only a clock that is set over there changes it, or a
   * sleep of this machine. Asks the database if its last answer may be wrong, or if `again` is true.
   */
  lead(again?: boolean): Promise<number>
  /** Milliseconds to add to a wall time of this process to get the database's. */
  offset(): Promise<number>
  /**
   * The same to judge times that others have written. After a failover the clock may be another one, and what was written before counts
   * by the old one: for a while, whichever makes it earlier.
   */
  offsetForOthers(): Promise<number>
}

const ask: Statement = { name: 'database_time', text: `SELECT ${NOW}` }

/** Smaller differences are errors of the measurement, and do not matter. */
const STEP_MS = 250
/** The clock of the database's machine may be set. */
const VALID_MS = 60_000
/** In that time every process that lives has written its lease anew. */
const MIXED_MS = 10_000
const QUICK_MS = 500
const MOST_TRIES = 3

export function createDatabaseTime(
  database: Pick<Database, 'reads' | 'writersMade'>,
  clock: Pick<Clock, 'now' | 'mono'>,
): DatabaseTime {
  let measured: { lead: number; at: number; writer: number } | null = null
  let before: { lead: number; until: number } | null = null

  /** A question that waits for long says little about the time of its answer. */
  async function askLead(): Promise<number> {
    for (let tries = 1; ; tries += 1) {
      const began = clock.mono()
      const [[theirs] = [clock.now()]] = await database.reads.rows<[number]>(ask)
      const ended = clock.mono()
      if (ended - began < QUICK_MS || tries === MOST_TRIES) return theirs - (began + ended) / 2
    }
  }

  async function measure(): Promise<number> {
    const writer = database.writersMade
    const found = await askLead()
    const last = measured?.lead ?? found
    const isAnother = Math.abs(found - last) >= STEP_MS
    if (isAnother) before = { lead: last, until: clock.mono() + MIXED_MS }
    const lead = isAnother ? found : last
    measured = { lead, at: clock.mono(), writer }
    return lead
  }

  async function leadNow(again = false): Promise<number> {
    // A new connection may lead to another server.
    if (again || measured === null || measured.writer !== database.writersMade) return measure()
    if (clock.mono() - measured.at >= VALID_MS) {
      // Commits do not wait for it. The next one has what it finds.
      measured = { ...measured, at: clock.mono() }
      measure().catch(() => {})
    }
    return measured.lead
  }

  const offsetOf = (lead: number): number => lead - (clock.now() - clock.mono())

  return {
    lead: leadNow,
    offset: async () => offsetOf(await leadNow()),
    async offsetForOthers() {
      const lead = await leadNow()
      const isMixed = before !== null && clock.mono() < before.until
      return offsetOf(isMixed && before !== null ? Math.min(lead, before.lead) : lead)
    },
  }
}
