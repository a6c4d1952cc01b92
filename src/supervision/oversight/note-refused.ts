// Whoever tries to decide or to command and may not is on record, at every door: who, what and why. The number of entries is bounded, so
// that nobody fills the trail with them, and the trail itself says where it stopped and how many it left out.

import { type Clock, isoTime } from '../../domain/clock.ts'
import type { Logger } from '../../domain/logger.ts'
import { present } from '../../domain/present.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'

export interface Refused {
  /** A person, or the name that a channel has for a stranger. */
  by: string
  via: string
  /** Id of the token, or the name that a channel has for an operator. */
  credential?: string | undefined
  /** How it was tried: `request`, `button`, `reply`, `command` or `answer`. */
  what: string
  /** The route, the action or the verb. Never words that people write. */
  tried: string
  /** A code. */
  why: string
  session?: string | null | undefined
  /** Of what it was tried on, and what else is known. */
  details?: AuditRecord['details']
}

/** Resolves when it is on disk, or counted. Never rejects. */
export type NoteRefused = (refused: Refused) => Promise<void>

interface NoteRefusedDeps {
  audit: (record: AuditRecord) => Promise<unknown>
  clock: Pick<Clock, 'now' | 'after'>
  logger: Logger
}

/** Entries of one credential within an hour. */
export const MOST_AN_HOUR = 100
/** Credentials that are counted by themselves. All others share one count. */
const MOST_COUNTED = 100
const HOUR_MS = 60 * 60_000

const about = { run: null, agent: '', tool: '', call: null } as const

export function createNoteRefused({ audit, clock, logger }: NoteRefusedDeps): NoteRefused {
  const counts = new Map<string, { tries: number; since: number }>()

  async function write(record: Omit<AuditRecord, 'at' | 'kind' | keyof typeof about>): Promise<void> {
    const { by, session, details } = record
    logger.warn('somebody was refused', present({ by, session_id: session ?? undefined, ...details }))
    try {
      await audit({ at: clock.now(), kind: 'refused', ...about, ...record })
    } catch (error) {
      logger.error('the audit trail could not take that somebody was refused', { by, ...details, error })
    }
  }

  /** How often within the hour that began with the first time. When it ends, what was left out is written down. */
  function countOf(who: Pick<Refused, 'by' | 'via' | 'credential'>): { tries: number; since: number } {
    const named = JSON.stringify([who.via, who.by, who.credential ?? null])
    const isOwn = counts.has(named) || counts.size < MOST_COUNTED
    const key = isOwn ? named : ''
    const known = counts.get(key)
    if (known !== undefined) return known
    const count = { tries: 0, since: clock.now() }
    counts.set(key, count)
    clock.after(HOUR_MS, () => {
      counts.delete(key)
      const dropped = count.tries - MOST_AN_HOUR
      if (dropped > 0)
        void write(boundOf(isOwn ? who : OTHERS, { why: 'not_written', dropped, since: isoTime(count.since) }))
    })
    return count
  }

  return async ({ by, via, credential, what, tried, why, session = null, details }) => {
    const who = { by, via, credential }
    const count = countOf(who)
    count.tries += 1
    if (count.tries <= MOST_AN_HOUR) {
      await write({ by, session, details: present({ channel: via, credential, what, tried, why, ...details }) })
    }
    if (count.tries !== MOST_AN_HOUR) return
    // Said now, because a server that stops before the hour has ended does not know the number any more.
    await write(boundOf(who, { why: 'limit', limit: MOST_AN_HOUR, until: isoTime(count.since + HOUR_MS) }))
  }
}

const OTHERS = { by: 'others', via: 'several' }

const boundOf = (
  { by, via, credential }: Pick<Refused, 'by' | 'via' | 'credential'>,
  facts: AuditRecord['details'],
) => ({
  by,
  session: null,
  details: present({ channel: via, credential, what: 'more', ...facts }),
})
