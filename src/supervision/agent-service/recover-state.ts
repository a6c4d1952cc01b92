// recover_state: an agent that begins, or has lost its memory, finds the session to go on in. The session is chosen before the call is
// attached to one: otherwise a fresh session would stay open beside it.

import { isoTime } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { type AskedRecord, isAsked, isSupervised, isWaiting, wordsOfAgent } from '../../domain/records/record.ts'
import { recordKinds } from '../../domain/records/record-kinds.ts'
import { isOpen, openStatuses } from '../../domain/supervision/supervision.ts'
import type { Store } from '../../store/store.ts'
import { awaitsItsAgent, isOfAgent, sessionEnded } from '../sessions/attach-agent.ts'
import type { AgentIdentity, SupervisedSessions } from '../sessions/supervised-sessions.ts'
import { about, isSupervisedSession, type SessionParts, type SupervisedSession } from '../sessions/take-step.ts'
import { createTurns } from '../sessions/turns.ts'
import type { AgentService } from './agent-service.ts'
import type { AnswerCall } from './answer-call.ts'

interface RecoverDeps extends Pick<SessionParts, 'takeStep' | 'ids'> {
  answerCall: AnswerCall
  sessions: Pick<SupervisedSessions, 'attach'>
  store: Pick<Store, 'waits' | 'supervised' | 'sessions'>
}

const MOST_LISTED = 100

/** Its window has it from an earlier one, perhaps since a call a moment ago. */
const goesOnFromBefore = ({ supervision: { status, takenUpAs, restoredFrom } }: SupervisedSession): boolean =>
  status === 'interrupted' || takenUpAs !== undefined || restoredFrom !== null
const MOST_TITLE_CHARS = 200

export function createRecoverState(deps: RecoverDeps): Pick<AgentService, 'recover_state'> {
  const { answerCall, takeStep, sessions, store, ids } = deps
  const choosing = createTurns()

  /** Throws `session_ended`: who was stopped does not go on. */
  async function named(agent: AgentIdentity, id: string): Promise<SupervisedSession> {
    const found = await store.sessions.get(id)
    if (!isOfAgent(agent, found))
      throw new ServerError('record_not_found', `There is no session ${JSON.stringify(id)} to recover here.`)
    if (found.supervision.status === 'terminated') throw sessionEnded(id)
    return found
  }

  /** The sessions that calls of this agent go to now. With a connection it is one at most, perhaps one that has ended. */
  async function ownOf({ tokenId, workspaceRoot, connectionId }: AgentIdentity): Promise<SupervisedSession[]> {
    const ofToken = await store.supervised.sessions({ tokenId, workspaceRoot, limit: MOST_LISTED })
    return ofToken
      .filter(isSupervisedSession)
      .filter(({ supervision }) =>
        connectionId === null ? isOpen(supervision) : supervision.connectionId === connectionId,
      )
  }

  /** The latest session of this owner in this workspace whose agent is gone, or the latest with something pending. */
  async function latest(agent: AgentIdentity, own: SupervisedSession | undefined): Promise<SupervisedSession | null> {
    if (own !== undefined && goesOnFromBefore(own)) return own
    const { workspaceRoot } = agent
    const here = { owner: own?.owner ?? agent.owner, workspaceRoot, limit: MOST_LISTED }
    const absent = await store.supervised.sessions({ ...here, statuses: ['interrupted', 'created'] })
    const [first] = absent.filter(isSupervisedSession).filter(awaitsItsAgent)
    if (first !== undefined) return first
    const others = await store.supervised.sessions({ ...here, statuses: openStatuses })
    for (const one of others) if (isSupervisedSession(one) && (await pendingOf(one.id)).length > 0) return one
    return null
  }

  /** The agent goes on in its old session, with this token and connection. One that it has just begun is not needed then. */
  async function goOn(agent: AgentIdentity, own: readonly SupervisedSession[], id: string): Promise<SupervisedSession> {
    const { tokenId, connectionId } = agent
    for (const { id: otherId, supervision } of own) {
      if (otherId === id || supervision.connectionId !== connectionId) continue
      const ends = supervision.lastRun === null && isOpen(supervision)
      await takeStep(otherId, ({ session, at }) => ({
        supervision: { status: ends ? 'terminated' : session.supervision.status, connectionId: null },
        audit: ends
          ? [about(session, at, supervision.host, { what: 'terminated', reason: `Its agent goes on in ${id}.` })]
          : [],
      }))
    }
    await sessions.attach({ ...agent, sessionId: id })
    const { session } = await takeStep(id, ({ session: now, at }) => ({
      supervision: {
        updatedAt: at,
        tokenId,
        takenUpAs: ids.uuid(),
        connectionId: connectionId ?? now.supervision.connectionId,
      },
    }))
    return session
  }

  /** The session that the call belongs to, and the one to recover; null: there is none. */
  async function choose(agent: AgentIdentity, wanted: string | undefined) {
    const asUsual = async (target: SupervisedSession | null) => ({
      target,
      attached: await sessions.attach(agent),
    })
    const own = await ownOf(agent)
    const [first] = own
    const isHeld = first?.supervision.status === 'terminated' || first?.supervision.status === 'paused'
    // Who was stopped or paused here does not go on elsewhere. Attaching refuses it, and says so if there are several.
    if (wanted === undefined && (isHeld || own.length > 1)) return asUsual(null)
    const target = wanted === undefined ? await latest(agent, first) : await named(agent, wanted)
    if (target !== null && awaitsItsAgent(target)) return { target, attached: await goOn(agent, own, target.id) }
    // Another window may work in it, so a window of its own only learns what is pending.
    if (target === null || (wanted === undefined && agent.connectionId !== null)) return asUsual(target)
    return { target, attached: await sessions.attach({ ...agent, sessionId: target.id }) }
  }

  const pendingOf = async (sessionId: string): Promise<AskedRecord[]> =>
    (await store.waits.list({ sessionId, isWaiting: true, limit: MOST_LISTED }))
      .filter(isSupervised)
      .filter(isAsked)
      .filter(isWaiting)

  async function hasTasks({ owner, supervision: { workspaceRoot: root } }: SupervisedSession): Promise<boolean> {
    const query = { kind: 'task', workspace: { owner, root }, isWaiting: true, limit: 1 } as const
    return (await store.supervised.instructions(query)).length > 0
  }

  async function view({ id, supervision }: SupervisedSession): Promise<Record<string, unknown>> {
    const waiting = await pendingOf(id)
    const { restoredFrom, mode, title } = supervision
    const restored = restoredFrom === null ? null : await store.supervised.checkpoint(restoredFrom)
    const [last = restored] = await store.supervised.checkpoints({ sessionId: id, limit: 1 })
    return {
      status: 'recovered',
      session_id: id,
      title,
      mode,
      pending_requests: waiting.map(requestView),
      last_checkpoint:
        last === null ? null : { checkpoint_id: last.id, label: last.label, created_at: isoTime(last.createdAt) },
      progress_snapshot: supervision.progressSnapshot ?? [],
      // Those that wait come with the answer, as with every other.
      pending_tasks: [],
    }
  }

  return {
    recover_state(call, input) {
      let target: SupervisedSession | null = null
      const attach = async (agent: AgentIdentity): Promise<SupervisedSession> => {
        // One after the other, so that two windows do not take up the same session.
        const place = JSON.stringify([agent.owner, agent.workspaceRoot])
        const chosen = await choosing(place, () => choose(agent, input.session_id))
        target = chosen.target
        return chosen.attached
      }
      const work = async ({ session }: { session: SupervisedSession }) => {
        const found = target ?? ((await hasTasks(session)) ? session : null)
        return found === null ? { status: 'clean' } : view(found)
      }
      return answerCall(call, 'recover_state', { ...input }, work, 'model', attach)
    },
  }
}

const requestView = (wait: AskedRecord) => ({
  request_id: wait.id,
  type: wait.wait === 'approval' ? wait.kind : recordKinds[wait.wait].wire.kind,
  title: wait.wait === 'approval' ? wait.title : wordsOfAgent(wait).slice(0, MOST_TITLE_CHARS),
  created_at: isoTime(wait.createdAt),
})
