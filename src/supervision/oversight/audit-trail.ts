// The audit trail for operators: the newest entries first, by kind, person, session and time. Who reads it is put on record too.

import type { Clock } from '../../domain/clock.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { AuditEntry, AuditRecord } from '../../domain/supervision/audit.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { AuditReads } from '../../store/ports/audit.ts'

export interface AuditQuery {
  /** Any of them. */
  kinds?: readonly string[] | undefined
  by?: string | undefined
  session?: string | undefined
  since?: number | undefined
  until?: number | undefined
  limit: number
  /** Place of the last entry of the page before. */
  before?: number | undefined
}

/** An entry as it was stored. An entry that somebody changed by hand may lack anything, so nothing but its place and hash is sure. */
export interface ReadEntry {
  /** Its place in the whole trail. */
  seq: number
  hash: string
  record: Record<string, unknown>
}

export interface AuditTrail {
  /**
   * Newest first. Puts the reader on record before, once an hour. A page may have fewer entries than asked for although there are
   * more: `next` is null only at the end.
   */
  list(by: Caller, query: AuditQuery): Promise<{ entries: ReadEntry[]; next: number | null }>
}

interface TrailDeps {
  reads: Pick<AuditReads, 'entries' | 'newest'>
  log: Pick<SessionLog, 'commit'>
  clock: Pick<Clock, 'now' | 'soon'>
}

const HOUR_MS = 60 * 60 * 1000
const SLICE = 500
/** A request looks at so many entries. They are not an index, so a rare kind is found over several pages. */
const MOST_LOOKED_AT = 20_000
/** Entries are in the order of their commits. Their times come from clocks that differ and may have been set back. */
const SLACK_MS = 24 * HOUR_MS

export function createAuditTrail({ reads, log, clock }: TrailDeps): AuditTrail {
  const auditOnce = createAuditOnce(log)

  async function recordRead({ user }: Caller): Promise<void> {
    const at = clock.now()
    const about = { session: null, run: null, agent: '', tool: '', call: null }
    const key = JSON.stringify([user, Math.floor(at / HOUR_MS)])
    await auditOnce(key, { at, kind: 'operator_read', by: user, ...about, details: { what: 'audit' } })
  }

  /** The place of an entry that is certainly newer than this time, so that old entries are found without reading all newer ones. */
  async function firstAfter(time: number): Promise<number | null> {
    const [end] = await reads.newest(null, 1)
    if (end === undefined) return null
    let [low, high] = [1, placeOf(end) + 1]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const [entry] = await reads.entries(middle - 1, 1)
      const { at } = entry === undefined ? {} : recordOf(entry)
      if (typeof at !== 'number' || at <= time) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    async list(by, { limit, before, ...query }) {
      await recordRead(by)
      const found: ReadEntry[] = []
      const skipped = query.until === undefined ? null : await firstAfter(query.until + SLACK_MS)
      let place = before === undefined ? skipped : Math.min(before, skipped ?? before)
      for (let lookedAt = 0; lookedAt < MOST_LOOKED_AT; lookedAt += SLICE) {
        const slice = await reads.newest(place, SLICE)
        for (const entry of slice) {
          const record = recordOf(entry)
          if (isBefore(record.at, query.since)) return { entries: found, next: null }
          place = placeOf(entry)
          if (!isWanted(record, query)) continue
          found.push({ seq: place, hash: entry.hash, record })
          if (found.length === limit) return { entries: found, next: place > 1 ? place : null }
        }
        if (slice.length < SLICE) return { entries: found, next: null }
        await new Promise<void>((resolve) => clock.soon(resolve))
      }
      return { entries: found, next: place }
    },
  }
}

const placeOf = ({ n, place = n }: AuditEntry): number => place

/** Whether this entry and all older ones are too old. */
const isBefore = (at: unknown, since: number | undefined): boolean =>
  since !== undefined && typeof at === 'number' && at < since - SLACK_MS

function isWanted(record: Record<string, unknown>, { kinds, by, session, since, until }: Omit<AuditQuery, 'limit'>) {
  const { at } = record
  if (since !== undefined && !(typeof at === 'number' && at >= since)) return false
  if (until !== undefined && !(typeof at === 'number' && at <= until)) return false
  return (
    (kinds === undefined || kinds.some((kind) => record.kind === kind)) &&
    (by === undefined || record.by === by) &&
    (session === undefined || record.session === session)
  )
}

/** An entry that was changed by hand may not be JSON. It is shown anyway. */
function recordOf({ text }: AuditEntry): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value
  } catch {}
  return { details: { text } }
}

/** Resolves when the record is on disk. With a key that was written before it writes nothing. One that failed is written by the next call. */
type AuditOnce = (key: string, record: AuditRecord) => Promise<void>

/** Keys that are remembered. Who is forgotten, here or by a restart, is recorded once more. */
const REMEMBERED = 10_000

export function createAuditOnce(log: Pick<SessionLog, 'commit'>): AuditOnce {
  /** Oldest first. */
  const written = new Map<string, Promise<unknown>>()

  return async (key, record) => {
    let writing = written.get(key)
    if (writing === undefined) {
      writing = log.commit({ type: 'add_audit', audit: [record] }).catch((error: unknown) => {
        written.delete(key)
        throw error
      })
      written.set(key, writing)
      const [oldest] = written.keys()
      if (written.size > REMEMBERED && oldest !== undefined) written.delete(oldest)
    }
    await writing
  }
}
