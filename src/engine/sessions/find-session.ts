// Finding sessions: by id in either spelling or by the name its client gave it, for its owner alone.

import type { SessionSettings } from '../../domain/agent.ts'
import type { Clock } from '../../domain/clock.ts'
import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import { parseUuid } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { Store } from '../../store/store.ts'
import type { Sessions } from '../ports/sessions.ts'

export type SessionBook = Pick<Sessions, 'find' | 'get' | 'refuseForeign' | 'list' | 'isExpired'>

export interface SessionBookDeps {
  store: Pick<Store, 'sessions' | 'runs'>
  log: Pick<SessionLog, 'commit'>
  clock: Clock
  logger: Logger
  /** Of the agent it belongs to. */
  rulesOf: (session: SessionRecord) => SessionSettings | undefined
  isDraining: () => boolean
}

const TOUCH_MS = 60_000

export function createSessionBook({ store, log, clock, logger, rulesOf, isDraining }: SessionBookDeps): SessionBook {
  async function find(owner: string, reference: string): Promise<SessionRecord | null> {
    const mine = (session: SessionRecord | null): session is SessionRecord =>
      session !== null && session.owner === owner && session.status !== 'terminated'
    const id = parseUuid(reference)
    const byId = id === null ? null : await store.sessions.get(id)
    const found = mine(byId) ? byId : await store.sessions.byAlias(owner, reference)
    if (!mine(found)) return null
    // What is closed stays closed, however often it is asked for.
    if (!(await isExpired(found))) touch(found)
    return found
  }

  async function isExpired(session: SessionRecord): Promise<boolean> {
    const rules = rulesOf(session)
    if (rules?.onExpiry !== 'close' || clock.now() - session.lastActivity < rules.ttlSeconds * 1_000) return false
    return (await store.runs.open(session.id)).length === 0
  }

  /** Where a session stands in its owner's list. Not `find`, which would move it to the top. */
  async function placeOf(owner: string, reference: string): Promise<SessionRecord> {
    const id = parseUuid(reference)
    const byId = id === null ? null : await store.sessions.get(id)
    const found = byId?.owner === owner ? byId : await store.sessions.byAlias(owner, reference)
    if (found === null || found.status === 'terminated') throw sessionNotFound(reference)
    return found
  }

  /** Whoever asks for a session keeps it from growing old. To the minute is enough, and nobody waits for it. */
  function touch(session: SessionRecord): void {
    const lastActivity = clock.now()
    if (lastActivity - session.lastActivity < TOUCH_MS || isDraining()) return
    log
      .commit({ type: 'update_session', sessionId: session.id, lastActivity })
      .catch((error: unknown) => logger.warn('a session could not be touched', { session_id: session.id, error }))
  }

  async function refuseForeign(owner: string, reference: string): Promise<void> {
    const id = parseUuid(reference)
    const taken = id === null ? null : await store.sessions.get(id)
    if (taken !== null && taken.owner !== owner) throw sessionNotFound(reference)
  }

  return {
    find,
    isExpired,
    refuseForeign,

    async get(owner, reference) {
      const session = await find(owner, reference)
      if (session !== null) return session
      if (parseUuid(reference) !== null) throw sessionNotFound(reference)
      throw new ServerError('malformed_id', 'A session id is a UUID, a ULID, or a name that its client gave it.')
    },

    async list({ before, ...query }) {
      const place = typeof before === 'string' ? await placeOf(query.owner, before) : before
      return store.sessions.list({ ...query, ...(place === undefined ? {} : { before: place }) })
    },
  }
}
