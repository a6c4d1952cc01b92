// Sessions as their owners see them.

import type { SessionSettings } from '../../domain/agent/agent.ts'
import { hasCode, ServerError, sessionNotFound } from '../../domain/errors.ts'
import { parseUuid } from '../../domain/ids.ts'
import { conversationKey } from '../../domain/session/conversation.ts'
import { type Fact, factText } from '../../domain/session/entry.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { NewEntry } from '../../store/ports/journal.ts'
import type { Store } from '../../store/store.ts'
import type { CancelRun } from '../cancel-run.ts'
import type { EngineParts } from '../create-engine.ts'
import type { Sessions } from '../ports/sessions.ts'
import type { Runner } from '../run/runner.ts'
import { createReadLog } from './read-log.ts'

interface SessionsDeps extends Pick<EngineParts, 'store' | 'log' | 'clock' | 'logger' | 'files' | 'versions'> {
  /** Session settings of the agent that owns the session. */
  settingsOf: (session: SessionRecord) => SessionSettings
  runner: Pick<Runner, 'draining' | 'settled'>
  cancel: CancelRun
}

const TOUCH_MS = 60_000

export function createSessions(deps: SessionsDeps): Sessions {
  const { store, log, clock, logger, settingsOf, runner, cancel, files } = deps

  /** One lookup for everything that is asked about a session. */
  async function locate(owner: string, reference: string): Promise<Found & { isExpired: boolean }> {
    const found = await lookUp(store, owner, reference)
    const isExpired = found.session !== null && (await hasExpired(found.session))
    // An expired session stays expired, however often it is asked for.
    if (found.session !== null && !isExpired) touch(found.session)
    return { ...found, isExpired }
  }

  async function get(owner: string, reference: string): Promise<{ session: SessionRecord; isExpired: boolean }> {
    const { session, isExpired } = await locate(owner, reference)
    if (session !== null) return { session, isExpired }
    if (parseUuid(reference) !== null) throw sessionNotFound(reference)
    throw new ServerError(
      'malformed_id',
      `${JSON.stringify(reference.slice(0, 140))} is not a session. Send a UUID, a ULID, or a name that is in use.`,
    )
  }

  async function hasExpired(session: SessionRecord): Promise<boolean> {
    // It belongs to none of our agents, so none of their settings counts.
    if (session.supervision !== undefined) return false
    const settings = settingsOf(session)
    if (settings.onExpiry !== 'close' || clock.now() - lastUse(session) < settings.ttlSeconds * 1_000) return false
    return (await store.runs.open(session.id)).length === 0
  }

  /** Using a session keeps it from expiring. Exact to the minute, and nobody waits for the write. */
  function touch(session: SessionRecord): void {
    const lastRead = clock.now()
    if (lastRead - lastUse(session) < TOUCH_MS || runner.draining) return
    log
      .commit({ type: 'update_session', sessionId: session.id, lastRead })
      .catch((error: unknown) => logger.warn('a session could not be touched', { session_id: session.id, error }))
  }

  return {
    find: async (owner, reference) => (await locate(owner, reference)).session,
    get: async (owner, reference) => (await get(owner, reference)).session,
    entries: store.entries,
    readLog: createReadLog({ store, log, clock }),
    // Only people who look into a timeline need it.
    readStep: async (session, seq) => (await import('./read-step.ts')).createReadStep(deps)(session, seq),
    overview: store.sessions.overview,
    search: store.search.find,

    async findForStart(owner, reference) {
      const { session, isForeign } = await locate(owner, reference)
      if (isForeign) throw sessionNotFound(reference)
      return session
    },

    async ofConversation(owner, digest) {
      const run = await store.runs.byKey(owner, conversationKey(digest))
      const { session } = run === null ? { session: null } : await lookUp(store, owner, run.sessionId)
      if (run === null || session === null || (await hasExpired(session))) return null
      const [latest] = await store.runs.latest(session.id, 1)
      return latest?.id === run.id ? session : null
    },

    async getOpen(owner, reference) {
      const { session, isExpired } = await get(owner, reference)
      if (!isExpired) return session
      throw new ServerError(
        'session_expired',
        `Session ${JSON.stringify(reference)} was idle for too long and is closed. Start a new one.`,
        { details: { session_id: reference } },
      )
    },

    countFound: ({ owner, ...rest }) => store.sessions.countFound(owner === null ? rest : { ...rest, owner }),

    async list({ before, owner, ...rest }) {
      const query = owner === null ? rest : { ...rest, owner }
      if (typeof before !== 'string') {
        return store.sessions.list({ ...query, before })
      }
      // Not `find`: who pages through a list does not look at this session.
      const { session: place } = await lookUp(store, owner, before)
      if (place === null) throw sessionNotFound(before)
      return store.sessions.list({ ...query, before: place })
    },

    async rename({ id: sessionId }, title, by) {
      const entries = [factEntry({ fact: 'renamed', title, by, at: clock.now() })]
      await log.commit({ type: 'update_session', sessionId, title, entries })
    },

    async rate({ id: sessionId }, given) {
      const feedback = { ...given, at: clock.now() }
      const { messageId: message, ...rest } = feedback
      await log.commit({
        type: 'update_session',
        sessionId,
        feedback,
        entries: [factEntry({ fact: 'feedback', message, ...rest })],
      })
    },

    async remove(session) {
      for (;;) {
        try {
          for (const run of await store.runs.open(session.id)) await cancel(run, 'deletion of the session')
          await runner.settled(session.id)
          await log.commit({ type: 'delete_session', sessionId: session.id, now: clock.now() })
          break
        } catch (error) {
          // Someone began another run in between. The agent of a supervised session would not go away by itself.
          const isBusy = hasCode(error, 'conflict') && session.supervision === undefined
          // Somebody else has deleted it in between, and its runs with it.
          const isGone = hasCode(error, 'run_not_found')
          if (!isBusy && !isGone) throw error
        }
      }
      // The files of the session go with it. The janitor's next sweep finds what is left behind here.
      await files?.sweep?.().catch((error: unknown) => logger.warn('files could not be swept yet', { error }))
    },
  }
}

const factEntry = (fact: Fact): NewEntry => ({ kind: 'fact', data: factText(fact) })

const lastUse = ({ lastActivity, lastRead = 0 }: SessionRecord): number => Math.max(lastActivity, lastRead)

interface Found {
  session: SessionRecord | null
  /** The reference is the id of somebody else's session. */
  isForeign: boolean
}

/** By id in either spelling, or by alias. Without an owner: anybody's, by id. */
async function lookUp(store: Pick<Store, 'sessions'>, owner: string | null, reference: string): Promise<Found> {
  const isOwn = (session: SessionRecord) => owner === null || session.owner === owner
  const isVisible = (session: SessionRecord | null) =>
    session !== null && isOwn(session) && session.status !== 'terminated'
  const id = parseUuid(reference)
  const byId = id === null ? null : await store.sessions.get(id)
  if (isVisible(byId)) return { session: byId, isForeign: false }
  const byAlias = owner === null ? null : await store.sessions.byAlias(owner, reference)
  if (isVisible(byAlias)) return { session: byAlias, isForeign: false }
  return { session: null, isForeign: byId !== null && !isOwn(byId) }
}
