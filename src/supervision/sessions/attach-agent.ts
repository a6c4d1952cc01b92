// Which session a call of an agent elsewhere belongs to.

import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import type { SessionRecord } from '../../domain/session.ts'
import { isOpen } from '../../domain/supervision.ts'
import { sha256 } from '../../json/digest.ts'
import type { Alone } from '../../replicas/create-alone.ts'
import type { Store } from '../../store/store.ts'
import type { Workspaces } from '../workspace/allowed-workspace.ts'
import { type Operators, refuseUnknownOwner } from './may-command.ts'
import type { OpenSession } from './open-session.ts'
import type { AgentIdentity, SupervisedSessions } from './supervised-sessions.ts'
import { isSupervisedSession, type Step, type SupervisedSession, type TakeStep } from './take-step.ts'
import { createTurns } from './turns.ts'

interface AttachDeps {
  store: Pick<Store, 'sessions' | 'supervised'>
  takeStep: TakeStep
  openSession: OpenSession
  operators: Operators
  workspaces: Workspaces
  /** Keeps other processes from opening the same session. Left out: there are none. */
  alone?: Alone
}

const MOST_OF_TOKEN = 1_000

class NoSession extends Error {}

const HOOK = 'hook:'
/** The connection of a session that begins with a hook. */
export const hookConnection = ({ host, hostSessionId }: { host: string; hostSessionId: string }): string =>
  `${HOOK}${host}:${hostSessionId.slice(0, 200)}`
const isOfHook = (connectionId: string): boolean => connectionId.startsWith(HOOK)
export const isBegunByHook = ({ supervision }: SupervisedSession): boolean => isOfHook(supervision.connectionId ?? '')

export function createAttachAgent(deps: AttachDeps): SupervisedSessions['attach'] {
  const { store, takeStep, operators, workspaces, alone } = deps
  const attaching = createTurns()

  /** The agent is back, or here for the first time. */
  async function wakeUp(session: SupervisedSession): Promise<SupervisedSession> {
    const { status } = session.supervision
    if (status === 'terminated') throw sessionEnded(session.id)
    if (status === 'active' || status === 'paused') return session
    const woken = await takeStep(session.id, ({ session: { supervision }, at }) =>
      supervision.status === 'created' || supervision.status === 'interrupted'
        ? { result: null, supervision: { status: 'active', updatedAt: at } }
        : { result: null },
    )
    return woken.session
  }

  /** Null: another window was faster. */
  async function takeOver(sessionId: string, connectionId: string): Promise<SupervisedSession | null> {
    const { result, session } = await takeStep(sessionId, (now): Step<boolean> => {
      const isFree = isBegunByHook(now.session) && isOpen(now.session.supervision)
      return isFree ? { result: true, supervision: { connectionId } } : { result: false }
    })
    return result ? session : null
  }

  const hasChannel = (channelId: string): boolean => {
    try {
      workspaces.checkChannel(channelId)
      return true
    } catch (error) {
      if (error instanceof ServerError) return false
      throw error
    }
  }

  /** A restart can take a channel out of the settings. Nobody would see there what its open sessions ask, so they move. */
  async function inChannel(session: SupervisedSession, channelId: string | null): Promise<SupervisedSession> {
    const { channelId: before } = session.supervision
    if (before === null || before === channelId || hasChannel(before)) return session
    return (await takeStep(session.id, () => ({ result: null, supervision: { channelId } }))).session
  }

  async function attach(agent: AgentIdentity, openSession: OpenSession): Promise<SupervisedSession> {
    const { owner, tokenId, workspaceRoot, sessionId, connectionId, host } = agent
    // At each call, because a restart can narrow the settings while a token or a session of before is still good.
    refuseUnknownOwner(operators, owner)
    const workspace = workspaces.find(workspaceRoot)
    // The messages of a channel can be read by the agents that report there, so an agent may not choose that of another project.
    if (agent.channelId !== null) {
      workspaces.checkChannel(agent.channelId, agent.isChannelOfToken === true ? undefined : workspace.path)
    }
    const channelId = agent.channelId ?? workspace.channelId
    const title = workspace.label
    if (sessionId !== null) {
      const named = await store.sessions.get(sessionId)
      if (!isOfAgent(agent, named)) throw sessionNotFound(sessionId)
      return inChannel(await wakeUp(named), channelId)
    }
    const ofToken = await store.supervised.sessions({ tokenId, workspaceRoot, limit: MOST_OF_TOKEN })
    const here = ofToken.filter(isSupervisedSession)
    const open = here.filter(({ supervision }) => isOpen(supervision))
    if (connectionId !== null) {
      // Also one that has ended: otherwise an agent that was stopped would go on in a new session.
      const mine = here.find(({ supervision }) => supervision.connectionId === connectionId)
      if (mine !== undefined) return inChannel(await wakeUp(mine), channelId)
      // The window may have asked through its hook before it called its first tool. With several such windows we cannot tell.
      const [hooked, ...others] = isOfHook(connectionId) ? [] : open.filter(isBegunByHook)
      const taken = hooked === undefined || others.length > 0 ? null : await takeOver(hooked.id, connectionId)
      if (taken !== null) return taken
      return openSession(owner, { workspaceRoot, host, tokenId, channelId, title, connectionId, status: 'active' })
    }
    const [first] = open
    if (open.length > 1) throw severalSessions(open)
    return first === undefined
      ? openSession(owner, { workspaceRoot, host, tokenId, channelId, title, status: 'active' })
      : inChannel(await wakeUp(first), channelId)
  }

  /** Looks once more before it opens one: a call that reached another process may have been faster. */
  async function attachAlone(agent: AgentIdentity, inTurn: Alone, key: string): Promise<SupervisedSession> {
    try {
      return await attach(agent, () => Promise.reject(new NoSession()))
    } catch (error) {
      if (!(error instanceof NoSession)) throw error
      return await inTurn(`attach ${sha256(key)}`, () => attach(agent, deps.openSession))
    }
  }

  // Calls of a new connection that come at the same time open one session, not several.
  return (agent) => {
    const key = JSON.stringify([agent.tokenId, agent.connectionId, agent.sessionId])
    return attaching(key, () =>
      alone === undefined ? attach(agent, deps.openSession) : attachAlone(agent, alone, key),
    )
  }
}

/** An agent may name the sessions of its token and of its owner, in its own folder. */
export const isOfAgent = (
  { owner, tokenId, workspaceRoot }: AgentIdentity,
  session: SessionRecord | null,
): session is SupervisedSession =>
  session !== null &&
  isSupervisedSession(session) &&
  session.supervision.workspaceRoot === workspaceRoot &&
  (session.supervision.tokenId === tokenId || session.owner === owner)

export const sessionEnded = (id: string): ServerError =>
  new ServerError(
    'session_ended',
    `Session ${id} has ended. Stop working, and tell your user. They can begin a new one.`,
    { details: { session_id: id } },
  )

const severalSessions = (open: readonly SupervisedSession[]): ServerError => {
  const listed = open.map(({ id, supervision }) => `${id} (${supervision.title ?? supervision.host})`)
  return new ServerError(
    'conflict',
    `This token has several open sessions. Say which one you mean with session_id: ${listed.join(', ')}.`,
    { details: { sessions: open.map(({ id }) => id) } },
  )
}
