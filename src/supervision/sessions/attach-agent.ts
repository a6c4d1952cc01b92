// Which session a call of an agent elsewhere belongs to.

import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import { isOpen, openStatuses, type Supervision } from '../../domain/supervision/supervision.ts'
import { sha256 } from '../../json/digest.ts'
import type { Alone } from '../../replicas/create-alone.ts'
import type { SupervisedQuery } from '../../store/ports/supervised.ts'
import type { Store } from '../../store/store.ts'
import type { Workspaces } from '../workspace/allowed-workspace.ts'
import { refuseUnknownOwner } from './may-command.ts'
import type { OpenSession } from './open-session.ts'
import type { AgentIdentity, SupervisedSessions } from './supervised-sessions.ts'
import { isSupervisedSession, type SessionParts, type Step, type SupervisedSession } from './take-step.ts'
import { createTurns } from './turns.ts'
import { isWorkspaceSession } from './workspace-session.ts'

interface AttachDeps extends Pick<SessionParts, 'takeStep' | 'operators' | 'ids'> {
  store: Pick<Store, 'sessions' | 'supervised'>
  openSession: OpenSession
  workspaces: Workspaces
  /** Keeps other processes from opening the same session. */
  alone: Alone
}

const MOST_OF_TOKEN = 1_000

class NoSession extends Error {}

/** Finds a new connection its session. */
type Begin = (agent: AgentIdentity, values: Parameters<OpenSession>[1]) => Promise<SupervisedSession>

export const isBegunByHook = ({ supervision }: SupervisedSession): boolean => isOfHook(supervision.connectionId)

/** Interrupted, or restored a moment ago. One that was just started has an agent on its way. */
export const awaitsItsAgent = ({ supervision: { status, restoredFrom } }: SupervisedSession): boolean =>
  status === 'interrupted' || (status === 'created' && restoredFrom !== null)

/** `claude` in a hook and `claude-code` in a handshake are the same program. */
const isSameHost = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a)

export function createAttachAgent(deps: AttachDeps): SupervisedSessions['attach'] {
  const { store, takeStep, operators, workspaces, ids, alone } = deps
  const attaching = createTurns()

  /** Sessions of the agent's token in its folder, the latest first. There may be a thousand, so each caller says which it needs. */
  async function ofToken(
    { tokenId, workspaceRoot }: AgentIdentity,
    query: Pick<SupervisedQuery, 'statuses' | 'connectionFrom'>,
  ): Promise<SupervisedSession[]> {
    const found = await store.supervised.sessions({ tokenId, workspaceRoot, ...query, limit: MOST_OF_TOKEN })
    return found.filter(isSupervisedSession)
  }

  /** The agent is back, or here for the first time. */
  async function wakeUp(session: SupervisedSession, connectionId: string | null): Promise<SupervisedSession> {
    if (session.supervision.status === 'terminated') throw sessionEnded(session.id)
    const change = (supervision: Supervision, at: number): Partial<Supervision> => {
      const wakes = isAsleep(supervision) && supervision.held !== true
      return present({
        status: wakes ? ('active' as const) : undefined,
        updatedAt: wakes ? at : undefined,
        connectionId: takesOver(supervision, connectionId) ? connectionId : undefined,
      })
    }
    if (Object.keys(change(session.supervision, 0)).length === 0) return session
    const woken = await takeStep(session.id, (now) => ({
      supervision: change(now.session.supervision, now.at),
    }))
    return woken.session
  }

  /** The latest session that this agent has left. Null: there is none, or other windows were faster. */
  async function takeUp(agent: AgentIdentity): Promise<SupervisedSession | null> {
    const { connectionId, host } = agent
    const absent = await ofToken(agent, { statuses: ['created', 'interrupted'] })
    const left = absent.filter((one) => awaitsItsAgent(one) && isSameHost(one.supervision.host, host))
    for (const { id } of left) {
      const { result, session } = await takeStep(id, ({ session: now, at }): Step<boolean> => {
        if (!awaitsItsAgent(now)) return { result: false }
        const { held = false } = now.supervision
        const status = held ? {} : ({ status: 'active' } as const)
        return { result: true, supervision: { ...status, updatedAt: at, connectionId, takenUpAs: ids.uuid() } }
      })
      if (result) return session
    }
    return null
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
    return (await takeStep(session.id, () => ({ supervision: { channelId } }))).session
  }

  const takeUpOrOpen: Begin = async (agent, values) =>
    (await takeUp(agent)) ?? (await deps.openSession(agent.owner, { ...values, status: 'active' }))

  async function attach(agent: AgentIdentity, begin: Begin): Promise<SupervisedSession> {
    const { owner, tokenId, workspaceRoot, sessionId, connectionId, host } = agent
    // At each call, because a restart can narrow the settings while a token or a session of before is still good.
    refuseUnknownOwner(operators, owner)
    const workspace = workspaces.find(workspaceRoot)
    // The messages of a channel can be read by the agents that report there, so an agent may not choose that of another project.
    if (agent.channelId !== null) {
      workspaces.checkChannel(agent.channelId, agent.isChannelOfToken === true ? undefined : workspace.path)
    }
    const channelId = agent.channelId ?? workspace.channelId
    const values = { workspaceRoot, host, tokenId, channelId, title: workspace.label, connectionId }
    if (sessionId !== null) {
      const named = await store.sessions.get(sessionId)
      if (!isOfAgent(agent, named)) throw sessionNotFound(sessionId)
      return inChannel(await wakeUp(named, connectionId), channelId)
    }
    if (connectionId !== null) {
      // Also one that has ended: otherwise an agent that was stopped would go on in a new session.
      const alike = await ofToken(agent, { connectionFrom: connectionId })
      const mine = alike.find(({ supervision }) => supervision.connectionId === connectionId)
      if (mine !== undefined) return inChannel(await wakeUp(mine, connectionId), channelId)
      // The window may have asked through its hook before it called its first tool. With several such windows we cannot tell.
      const [hooked, ...others] = isOfHook(connectionId)
        ? []
        : await ofToken(agent, { statuses: openStatuses, connectionFrom: HOOK })
      const taken = hooked === undefined || others.length > 0 ? null : await takeOver(hooked.id, connectionId)
      if (taken !== null) return taken
      return inChannel(await begin(agent, values), channelId)
    }
    const open = await ofToken(agent, { statuses: openStatuses })
    if (open.length > 1) throw severalSessions(open)
    const [only] = open
    return inChannel(only === undefined ? await begin(agent, values) : await wakeUp(only, null), channelId)
  }

  /** Looks once more before it begins one: a call that reached another process may have been faster. */
  async function attachAlone(agent: AgentIdentity, key: string): Promise<SupervisedSession> {
    try {
      return await attach(agent, () => Promise.reject(new NoSession()))
    } catch (error) {
      if (!(error instanceof NoSession)) throw error
      return await alone(`attach ${sha256(key)}`, () => attach(agent, takeUpOrOpen))
    }
  }

  // Calls of a new connection that come at the same time open one session, not several.
  return (agent) => {
    const key = JSON.stringify([agent.tokenId, agent.connectionId, agent.sessionId])
    return attaching(key, () => attachAlone(agent, key))
  }
}

const isAsleep = ({ status }: Supervision): boolean => status === 'created' || status === 'interrupted'

/**
 * Whether a call that names a session brings the session its connection. One that another window works in keeps its own. A hook is only a
 * stand-in until the window calls: otherwise what wakes up a session would be a window of which nobody knows.
 */
function takesOver(supervision: Supervision, connectionId: string | null): boolean {
  const { connectionId: before } = supervision
  if (connectionId === null || connectionId === before) return false
  if (isOfHook(connectionId)) return isAsleep(supervision) && before !== null
  return isAsleep(supervision) || before === null || isOfHook(before)
}

/** An agent may name the sessions of its token and of its owner, in its own folder. What stands for the folder itself has no agent. */
export const isOfAgent = (
  { owner, tokenId, workspaceRoot }: AgentIdentity,
  session: SessionRecord | null,
): session is SupervisedSession =>
  isSupervisedSession(session) &&
  !isWorkspaceSession(session) &&
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

/** Begins the id of a connection that is a hook's. That of an MCP client with a handshake is a UUID. */
const HOOK = 'hook:'

/** The connection of a session that begins with a hook. Nothing is open between two hooks. */
export const hookConnection = ({ host, hostSessionId }: { host: string; hostSessionId: string }): string =>
  `${HOOK}${host}:${hostSessionId.slice(0, 200)}`

/** One process of `quarterdeck mcp`. */
export const bridgeConnection = (tokenId: string, bridgeId: string): string => `${tokenId}:${bridgeId}`

const isOfHook = (connectionId: string | null): boolean => connectionId?.startsWith(HOOK) === true

/**
 * Whether the agent's connection is open all the time, so that the agent is gone when the connection is. The end of a process that we
 * started is seen at once, and tells more.
 */
export function hasLastingConnection({ connectionId, mcp = [], spawned }: Supervision): boolean {
  if (connectionId === null || isOfHook(connectionId) || spawned !== null) return false
  const isOfBridge = connectionId.includes(':')
  return isOfBridge || mcp.some(({ id, listens }) => id === connectionId && listens === true)
}
