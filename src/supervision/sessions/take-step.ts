// How a supervised session changes: somebody reads it as it is now, decides on a step, and the store takes the whole step or nothing.

import type { Clock } from '../../domain/clock.ts'
import { hasCode, sessionNotFound } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import { answeredRecord } from '../../domain/records/answered-record.ts'
import { isAsked, isSupervised, isWaiting, type SupervisedRecord } from '../../domain/records/record.ts'
import { type Fact, factText } from '../../domain/session/entry.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import type { OpenLimits } from '../../domain/session/open-limits.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Supervision } from '../../domain/supervision/supervision.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { RecordChange, Supervise } from '../../store/ports/supervised.ts'
import type { Store } from '../../store/store.ts'
import type { Operators } from './may-command.ts'
import { showStep } from './session-events.ts'
import { logStep } from './step-log.ts'
import { createTurns } from './turns.ts'

export type SupervisedSession = SessionRecord & { supervision: Supervision }

export interface SessionNow {
  session: SupervisedSession
  /** Its records that want something of a person, oldest first. */
  waiting: readonly SupervisedRecord[]
  at: number
}

/** What changes. Without any, nothing is written. */
export interface Changes
  extends Pick<
    Supervise,
    | 'owner'
    | 'ask'
    | 'proposals'
    | 'settle'
    | 'instructions'
    | 'deliver'
    | 'checkpoints'
    | 'pin'
    | 'grant'
    | 'uses'
    | 'forget'
    | 'audit'
  > {
  supervision?: Partial<Omit<Supervision, 'version' | 'openRun' | 'lastRun' | 'terminatedAt'>>
  /** Shown in the session's log. */
  events?: readonly RunEvent[]
  /** Written to the session's log, and shown to nobody. */
  facts?: readonly Fact[]
}

/** What changes, and what to tell the caller. */
export interface Step<T> extends Changes {
  result: T
}

/**
 * `decide` may be called again, with the session as it is then, when somebody else has changed it meanwhile. Throws
 * `session_not_found`, what `decide` throws, and what the store refuses a step with.
 */
export interface TakeStep {
  <T>(
    sessionId: string,
    decide: (now: SessionNow) => Step<T> | Promise<Step<T>>,
  ): Promise<{ result: T; session: SupervisedSession }>
  (sessionId: string, decide: (now: SessionNow) => Changes | Promise<Changes>): Promise<{ session: SupervisedSession }>
}

/** What those who change sessions are made with. */
export interface SessionParts {
  takeStep: TakeStep
  operators: Operators
  clock: Clock
  ids: Ids
  logger: Logger
}

interface StepDeps {
  store: Pick<Store, 'sessions' | 'waits'>
  log: Pick<SessionLog, 'commit'>
  clock: Pick<Clock, 'now'>
  ids: Ids
  logger: Logger
  maxOpen: OpenLimits
}

/** More than a session ever has. */
const MOST_WAITING = 64
/** Somebody else was faster each time. It never happens with people and agents, so it is a bug. */
const MOST_TRIES = 100

export function createTakeStep({ store, log, clock, ids, logger, maxOpen }: StepDeps): TakeStep {
  const turns = createTurns()

  async function look(sessionId: string): Promise<SessionNow> {
    const session = await findSupervised(store, sessionId)
    const found = await store.waits.list({ sessionId, isWaiting: true, limit: MOST_WAITING })
    const waiting = found.filter(isSupervised).filter(isWaiting).reverse()
    return { session, waiting, at: Math.max(clock.now(), session.supervision.updatedAt) }
  }

  async function commit({ session, waiting, at }: SessionNow, step: Decided<unknown>): Promise<SupervisedSession> {
    const { result: _, events = [], facts = [], supervision = {}, ...changes } = step
    const status = supervision.status ?? session.supervision.status
    const left = stillWaiting(waiting, changes)
    const shown = showStep(session, events, { waiting: left, status, at, ids })
    const entries = [
      ...(shown?.entries ?? []),
      ...facts.map((fact) => ({ kind: 'fact' as const, data: factText(fact) })),
    ]
    const done = await log.commit({
      type: 'supervise',
      sessionId: session.id,
      now: at,
      version: session.supervision.version,
      maxOpen,
      supervision: { ...supervision, ...shown?.run },
      ...changes,
      entries,
      runId: shown?.runId,
    })
    const next = done.session
    if (!isSupervisedSession(next)) throw new Error('The store gave no supervised session.')
    logStep(logger, { session, waiting }, next, changes)
    return next
  }

  return <T>(sessionId: string, decide: (now: SessionNow) => Decided<T> | Promise<Decided<T>>) =>
    turns(sessionId, async () => {
      for (let tries = 1; ; tries += 1) {
        const now = await look(sessionId)
        const step = await decide(now)
        const result = step.result as T
        if (isEmpty(step)) return { result, session: now.session }
        try {
          return { result, session: await commit(now, step) }
        } catch (error) {
          const isStale = hasCode(error, 'conflict') && tries < MOST_TRIES
          if (!isStale || (await isCurrent(now))) throw error
        }
      }
    })

  /** The conflict was not about the version, so trying again changes nothing. */
  async function isCurrent({ session }: SessionNow): Promise<boolean> {
    const { supervision } = (await store.sessions.get(session.id)) ?? {}
    return supervision?.version === session.supervision.version
  }
}

export const isSupervisedSession = (session: SessionRecord | null | undefined): session is SupervisedSession =>
  session?.supervision !== undefined

/** Throws `session_not_found`. */
export async function findSupervised({ sessions }: Pick<Store, 'sessions'>, id: string): Promise<SupervisedSession> {
  const session = await sessions.get(id)
  if (isSupervisedSession(session) && session.status !== 'terminated') return session
  throw sessionNotFound(id)
}

/** An entry of the audit trail about a session. */
export const about = (
  { id, agent }: Pick<SupervisedSession, 'id' | 'agent'>,
  at: number,
  by: string,
  details: AuditRecord['details'],
): AuditRecord => ({ at, kind: 'supervised', by, session: id, run: null, agent, tool: '', call: null, details })

type Decided<T> = Changes & Partial<Step<T>>

const isEmpty = ({ result: _, ...changes }: Decided<unknown>): boolean =>
  Object.values(changes).every((value) => value === undefined || Object.keys(value).length === 0)

function stillWaiting(waiting: readonly SupervisedRecord[], { ask = [], settle = [] }: Changes) {
  const changes = new Map(settle.map((change) => [change.id, change]))
  const changed = waiting.flatMap((wait) => changedBy(wait, changes.get(wait.id)) ?? [])
  return [...changed, ...ask].filter(isWaiting)
}

/** The record as the store will have it. */
function changedBy(wait: SupervisedRecord, change: RecordChange | undefined): SupervisedRecord | null {
  const patched = { ...wait, ...change?.patch } as SupervisedRecord
  if (change?.answer === undefined) return patched
  const answered = answeredRecord(patched, change.answer, null)
  return answered !== null && isSupervised(answered) ? answered : null
}

/** The agent waits for the answer. Nobody waits for a policy to be accepted: the agent goes on meanwhile. */
export const isWaitedFor = (wait: SupervisedRecord): boolean =>
  isAsked(wait) && !(wait.wait === 'approval' && wait.kind === 'policy')
