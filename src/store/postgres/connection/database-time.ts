import type { Clock } from '../../../domain/clock.ts'
import type { Statement } from '../sql.ts'
import type { Database } from './database.ts'

/** What replicas whose clocks differ agree on. */
export interface DatabaseTime {
  /** Milliseconds to add to a time of this process to get the database's. Asks the database when its last answer may be wrong. */
  offset(): Promise<number>
  /**
   * The same to judge times that others have written. After a failover the clock may be another one, and what was written before counts
   * by the old one: for a while, whichever makes it earlier.
   */
  offsetForOthers(): Promise<number>
}

const ask: Statement = { name: 'database_time', text: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint' }

/** Smaller differences are errors of the measurement, and do not matter. */
const STEP_MS = 250
/** The clock of the database's machine may be set too. */
const VALID_MS = 60_000
/** In that time every process that lives has written its lease anew. */
const MIXED_MS = 10_000
const QUICK_MS = 500
const MOST_TRIES = 3

/** The clock of this machine may be set, and stands still while the machine sleeps. Both show as a jump of wall against monotonic time. */
export function createDatabaseTime(
  database: Pick<Database, 'reads' | 'writersMade'>,
  clock: Pick<Clock, 'now' | 'mono'>,
): DatabaseTime {
  /** `theirLead`: by how much the database's time is ahead of our monotonic time. Only their clock changes it, or a sleep of ours. */
  let measured: { offset: number; lead: number; theirLead: number; at: number; writer: number } | null = null
  let before: { theirLead: number; until: number } | null = null

  const lead = (): number => clock.now() - clock.mono()

  /** A question that waits for long says little about the time of its answer. */
  async function measureOffset(): Promise<number> {
    for (let tries = 1; ; tries += 1) {
      const [began, asked] = [clock.mono(), clock.now()]
      const [[theirs] = [asked]] = await database.reads.rows<[number]>(ask)
      if (clock.mono() - began < QUICK_MS || tries === MOST_TRIES) return theirs - (asked + clock.now()) / 2
    }
  }

  async function measure(): Promise<number> {
    const writer = database.writersMade
    const found = await measureOffset()
    const last = measured
    const offset = last !== null && Math.abs(found - last.offset) < STEP_MS ? last.offset : found
    const theirLead = offset + lead()
    if (last !== null && Math.abs(theirLead - last.theirLead) >= STEP_MS) {
      before = { theirLead: last.theirLead, until: clock.mono() + MIXED_MS }
    }
    measured = { offset, lead: lead(), theirLead, at: clock.mono(), writer }
    return offset
  }

  async function offsetNow(): Promise<number> {
    const hasJumped = measured === null || Math.abs(lead() - measured.lead) >= STEP_MS
    // A new connection may lead to another server.
    if (measured === null || hasJumped || measured.writer !== database.writersMade) return measure()
    if (clock.mono() - measured.at >= VALID_MS) {
      // Commits do not wait for it. The next one has what it finds.
      measured = { ...measured, at: clock.mono() }
      measure().catch(() => {})
    }
    return measured.offset
  }

  return {
    offset: offsetNow,
    async offsetForOthers() {
      const offset = await offsetNow()
      if (measured === null || before === null || clock.mono() >= before.until) return offset
      return offset - Math.max(measured.theirLead - before.theirLead, 0)
    },
  }
}
