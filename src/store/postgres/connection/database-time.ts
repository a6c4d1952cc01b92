import type { Clock } from '../../../domain/clock.ts'
import type { Statement } from '../../tables/statement.ts'
import { NOW } from '../sql.ts'
import type { Database } from './database.ts'

/** What replicas whose clocks differ agree on. */
export type DatabaseTime = ReturnType<typeof createDatabaseTime>

const ask: Statement = { name: 'database_time', text: `SELECT ${NOW}` }

/** Smaller differences are errors of the measurement, and do not matter. */
const STEP_MS = 250
/** The clock of the database's machine may be set. */
const ASK_EVERY_MS = 5_000
/**
 * A clock that is set counts when it has stayed so: one that is soon put right again misleads nobody. Meanwhile every process hears of
 * it, so that nobody takes another one for dead that goes by the new time first.
 */
const STAYED_MS = 15_000
/** In that time after a change every process that lives has written its lease anew. */
const KEPT_MS = 30_000
const QUICK_MS = 500
const MOST_TRIES = 3

export function createDatabaseTime(
  database: Pick<Database, 'reads' | 'writersMade'>,
  clock: Pick<Clock, 'now' | 'mono'>,
) {
  let lead: number | null = null
  let asked = { at: 0, writer: 0 }
  /** What the database has said lately, oldest first. */
  let said: { lead: number; at: number }[] = []
  let ofMachine: number | null = null

  /** A question that waits for long says little about the time of its answer. */
  async function askLead(): Promise<{ found: number; error: number }> {
    for (let tries = 1; ; tries += 1) {
      const began = clock.mono()
      const [[theirs] = [clock.now()]] = await database.reads.rows<[number]>(ask)
      const ended = clock.mono()
      const error = (ended - began) / 2
      if (ended - began < QUICK_MS || tries === MOST_TRIES) return { found: theirs - began - error, error }
    }
  }

  async function measure(): Promise<number> {
    asked = { at: clock.mono(), writer: database.writersMade }
    const { found, error } = await askLead()
    const now = clock.mono()
    const isAsBefore = lead !== null && Math.abs(found - lead) < STEP_MS + error
    said = [
      ...said.filter(({ at }) => now - at < KEPT_MS),
      { lead: isAsBefore && lead !== null ? lead : found, at: now },
    ]
    if (lead === null || (!isAsBefore && counts(found, lead))) lead = found
    return lead
  }

  function counts(found: number, before: number): boolean {
    // This machine's clock bears it out: it has slept, or the database's clock was wrong when it was asked first.
    if (found > before && ofMachine !== null && isSame(found, ofMachine)) return true
    const first = said[said.findLastIndex((one) => !isSame(one.lead, found)) + 1]
    return first !== undefined && clock.mono() - first.at >= STAYED_MS
  }

  /**
   * Milliseconds from the monotonic time of this process to the database's time. Only a clock that was set over there changes it, or a
   * sleep of this machine. Asks the database if its last answer may be wrong, or if `again` is true. `machine` is the same for the
   * clock of this machine, as a second witness.
   */
  async function leadNow(again = false, machine = ofMachine): Promise<number> {
    ofMachine = machine
    if (again || lead === null) return measure()
    const known = lead
    // A new connection may lead to another server.
    if (asked.writer !== database.writersMade) return measure().catch(() => known)
    // Commits do not wait for it. The next one has what it finds.
    if (clock.mono() - asked.at >= ASK_EVERY_MS) measure().catch(() => {})
    return known
  }

  const offsetOf = (one: number): number => one - (clock.now() - clock.mono())

  async function leadForOthers(): Promise<number> {
    const own = await leadNow()
    const lately = said.filter(({ at, lead: one }) => clock.mono() - at < KEPT_MS && !isSame(one, own))
    return Math.min(own, ...lately.map((one) => one.lead))
  }

  return {
    lead: leadNow,
    /** Milliseconds to add to a wall time of this process to get the database's. */
    offset: async (): Promise<number> => offsetOf(await leadNow()),
    /**
     * The same to judge times that others have written. They may have asked when the database's clock was another: whichever of its
     * times of the last half minute makes it earlier.
     */
    offsetForOthers: async (): Promise<number> => offsetOf(await leadForOthers()),
    /** The database's time, in whole milliseconds, to judge what others have written. */
    nowForOthers: async (): Promise<number> => Math.round(clock.mono() + (await leadForOthers())),
  }
}

const isSame = (one: number, other: number): boolean => Math.abs(one - other) < STEP_MS
