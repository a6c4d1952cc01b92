// The agents that run: they end with their sessions, and their sessions hear of it when they have ended.

import { hasCode } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import { isOfPlace } from '../../replicas/at-its-place.ts'
import type { RecordChanges } from '../sessions/await-record.ts'
import type { SupervisedSessions } from '../sessions/supervised-sessions.ts'
import type { SessionParts, SupervisedSession } from '../sessions/take-step.ts'
import { type ChildRecords, type FoundChild, findChildren } from './child-records.ts'

export interface WatchedHosts {
  watch(sessionId: string, tokenId: string, child: Child): void
  /**
   * After a start: takes over the hosts that still run, and ends those whose sessions have ended. The sessions of hosts that are gone are
   * interrupted.
   */
  recover(): Promise<void>
  close(): Promise<void>
  readonly isClosing: boolean
}

/** A host, whether this process or an earlier one has started it. */
interface Child {
  terminate(): Promise<void>
  gone: Promise<Farewell>
}

/** A host has ended. */
export interface Farewell {
  /** What to tell people. */
  reason: string
  /** How it crashed. Null: it did not, or nobody saw it. */
  crash: string | null
}

export interface WatchedHostsDeps extends Pick<SessionParts, 'takeStep' | 'clock' | 'logger'> {
  sessions: Pick<SupervisedSessions, 'get' | 'interrupt' | 'list'>
  changes: RecordChanges
  tokens: { revoke(id: string): Promise<void> }
  records: ChildRecords
  runtimeDir: string
  /** Where several processes share the store, each looks after the hosts of its own folder. Null: this is the only one. */
  place: string | null
}

/** More than a server keeps. */
const MOST_SESSIONS = 10_000
const GONE: Farewell = { reason: 'The process of the agent has ended.', crash: null }

export function createWatchedHosts(deps: WatchedHostsDeps): WatchedHosts {
  const { sessions, takeStep, changes, tokens, records, runtimeDir, place, clock, logger } = deps
  const children = new Map<string, Child>()
  const closing = new AbortController()

  /** A host ends with its session, whoever ends the session and however. */
  function watch(sessionId: string, tokenId: string, child: Child): void {
    children.set(sessionId, child)
    const look = async (): Promise<void> => {
      const session = await sessions.get(sessionId).catch(() => null)
      if (isOver(session) && !closing.signal.aborted) await child.terminate()
    }
    const stop = changes.watch({ recordId: sessionId, sessionId }, () => {
      void look().catch((error: unknown) => logger.warn('a host could not be ended', { session_id: sessionId, error }))
    })
    const part = async (): Promise<void> => {
      const farewell = await child.gone
      stop()
      children.delete(sessionId)
      if (!closing.signal.aborted) await left(sessionId, tokenId, farewell)
    }
    part().catch((error: unknown) =>
      logger.warn('it could not be written that a host has ended', { session_id: sessionId, error }),
    )
  }

  /** The process is gone: its token is of no use any more, and its session waits for an agent that comes back. */
  async function left(sessionId: string, tokenId: string, { reason, crash }: Farewell): Promise<void> {
    await tokens.revoke(tokenId).catch((error: unknown) => {
      const isGone = hasCode(error, 'token_not_found')
      if (!isGone) logger.warn('the token of an ended host could not be revoked', { session_id: sessionId, error })
    })
    await takeStep(sessionId, () => ({
      supervision: present({ spawned: null, crash: crash ?? undefined }),
    }))
    await sessions.interrupt(sessionId, reason)
  }

  /** A host that an earlier process has started. Its output is lost; its session is not. */
  async function takeOver(found: FoundChild): Promise<void> {
    const { session_id: id } = found.record
    const session = await sessions.get(id).catch(() => null)
    if (session === null) return found.terminate()
    const gone = found.gone(closing.signal).then(() => GONE)
    watch(id, session.supervision.tokenId, { terminate: found.terminate, gone })
    if (isOver(session)) await found.terminate()
  }

  /** Tells the sessions of hosts that ended with an earlier process or with the machine. */
  async function forgetLost(): Promise<void> {
    for (const { id, supervision } of await sessions.list({ limit: MOST_SESSIONS })) {
      const isOurs = isOfPlace(place, supervision.place)
      if (isOurs && supervision.spawned !== null && !children.has(id)) {
        await left(id, supervision.tokenId, GONE).catch((error: unknown) =>
          logger.warn('the session of a lost host could not be interrupted', { session_id: id, error }),
        )
      }
    }
  }

  return {
    watch,
    async recover() {
      for (const found of findChildren({ records, runtimeDir, clock })) {
        await takeOver(found).catch((error: unknown) =>
          logger.error('a host of an earlier start could not be taken over', { ...found.record, error }),
        )
      }
      await forgetLost()
    },
    async close() {
      closing.abort()
      await Promise.allSettled([...children.values()].map((child) => child.terminate()))
    },
    get isClosing() {
      return closing.signal.aborted
    },
  }
}

/** A session that is only interrupted waits for its agent. */
const isOver = (session: SupervisedSession | null): boolean =>
  session === null || session.supervision.status === 'terminated'
