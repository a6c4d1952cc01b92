import type { AuditRecord } from '../../domain/audit.ts'
import type { Clock } from '../../domain/clock.ts'
import type { Caller } from '../../domain/decision.ts'
import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import {
  type Instruction,
  isOpen,
  type OperationalMode,
  openStatuses,
  type SupervisedStatus,
  type Supervision,
} from '../../domain/supervision.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { Store } from '../../store/store.ts'
import type { Workspaces } from '../workspace/allowed-workspace.ts'
import { checkText, MOST_NAME_CHARS, MOST_TITLE_CHARS } from './check-text.ts'
import {
  channelOf,
  type Operators,
  refuseForeignCommand,
  refuseUnknownOwner,
  refuseWithoutAdmin,
  viaOf,
} from './may-command.ts'
import { noticeEvent } from './session-events.ts'
import type { AgentIdentity, SupervisedSessions } from './supervised-sessions.ts'
import { isSupervisedSession, type SessionNow, type Step, type SupervisedSession, type TakeStep } from './take-step.ts'
import { createTurns } from './turns.ts'

interface SessionsDeps {
  store: Pick<Store, 'sessions' | 'supervised'>
  log: Pick<SessionLog, 'commit'>
  takeStep: TakeStep
  operators: Operators
  clock: Clock
  ids: Ids
  logger: Logger
  /** `max_concurrent_sessions`. */
  maxOpen: number
  /** `modes.agent_may_set`. */
  agentMaySetMode: boolean
  /** Told after each change of a mode. */
  onMode?: ModeChanged
  workspaces: Workspaces
  /** Whether a stream of this connection is open, although no call is in work. */
  isConnected: (connectionId: string) => boolean
}

export type ModeChanged = (change: {
  session: SupervisedSession
  from: OperationalMode
  to: OperationalMode
  by: string
}) => void

const HOOK = 'hook:'
/** The connection of a session that begins with a hook. */
export const hookConnection = ({ host, hostSessionId }: { host: string; hostSessionId: string }): string =>
  `${HOOK}${host}:${hostSessionId.slice(0, 200)}`
const isOfHook = (connectionId: string): boolean => connectionId.startsWith(HOOK)
const isBegunByHook = ({ supervision }: SupervisedSession): boolean => isOfHook(supervision.connectionId ?? '')

/** A created session ends after this time without a connection. */
const CONNECT_MS = 30_000
/** A session without a stream and without a call for this long is interrupted, unless it is paused. */
const SILENT_MS = 1_800_000
const MOST_OPEN = 1_000

export function createSupervisedSessions(deps: SessionsDeps): SupervisedSessions {
  const { store, log, takeStep, operators, clock, ids, logger, maxOpen } = deps
  /** How many connections of each session are open in this process. */
  const present = new Map<string, number>()
  const attaching = createTurns()

  async function find(sessionId: string): Promise<SupervisedSession> {
    const session = await store.sessions.get(sessionId)
    if (session === null || !isSupervisedSession(session) || session.status === 'terminated') {
      throw sessionNotFound(sessionId)
    }
    return session
  }

  async function openNew(
    owner: string,
    values: Partial<Supervision> & Pick<Supervision, 'workspaceRoot' | 'host' | 'tokenId'>,
  ) {
    const at = clock.now()
    const supervision: Supervision = { ...emptySupervision, ...values, updatedAt: at }
    const session: SupervisedSession = {
      id: ids.uuid(),
      owner,
      agent: supervision.host,
      activeAgent: null,
      status: 'active',
      createdAt: at,
      lastActivity: at,
      terminatedAt: null,
      lastTool: null,
      metadata: {},
      alias: null,
      messageCount: 0,
      state: undefined,
      unlisted: false,
      supervision,
    }
    const audit = [about(session, at, owner, { what: 'opened', workspace: supervision.workspaceRoot })]
    const done = await log.commit({
      type: 'supervise',
      sessionId: session.id,
      now: at,
      create: session,
      maxOpen,
      audit,
    })
    return done.session !== undefined && isSupervisedSession(done.session) ? done.session : session
  }

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

  async function attach(agent: AgentIdentity): Promise<SupervisedSession> {
    const { owner, tokenId, workspaceRoot, sessionId, connectionId, host } = agent
    // At each call, because a restart can narrow the settings while a token or a session of before is still good.
    refuseUnknownOwner(operators, owner)
    const workspace = deps.workspaces.find(workspaceRoot)
    if (agent.channelId !== null) deps.workspaces.checkChannel(agent.channelId)
    const channelId = agent.channelId ?? workspace.channelId
    const title = workspace.label
    if (sessionId !== null) {
      const named = await store.sessions.get(sessionId)
      const isTheirs =
        named !== null &&
        isSupervisedSession(named) &&
        named.supervision.workspaceRoot === workspaceRoot &&
        (named.supervision.tokenId === tokenId || named.owner === owner)
      if (!isTheirs) throw sessionNotFound(sessionId)
      return wakeUp(named)
    }
    const ofToken = await store.supervised.sessions({ tokenId, workspaceRoot, limit: MOST_OPEN })
    const here = ofToken.filter(isSupervisedSession)
    const open = here.filter(({ supervision }) => isOpen(supervision))
    if (connectionId !== null) {
      // Also one that has ended: otherwise an agent that was stopped would go on in a new session.
      const mine = here.find(({ supervision }) => supervision.connectionId === connectionId)
      if (mine !== undefined) return wakeUp(mine)
      // The window may have asked through its hook before it called its first tool. With several such windows we cannot tell.
      const [hooked, ...others] = isOfHook(connectionId) ? [] : open.filter(isBegunByHook)
      if (hooked !== undefined && others.length === 0) {
        return (await takeStep(hooked.id, () => ({ result: null, supervision: { connectionId } }))).session
      }
      return openNew(owner, { workspaceRoot, host, tokenId, channelId, title, connectionId, status: 'active' })
    }
    const [first] = open
    if (open.length > 1) throw severalSessions(open)
    return first === undefined
      ? openNew(owner, { workspaceRoot, host, tokenId, channelId, title, status: 'active' })
      : wakeUp(first)
  }

  /** Changes the status for an operator, and says so in the log and the trail. */
  function command(
    by: Caller,
    sessionId: string,
    to: SupervisedStatus,
    what: string,
    details: Record<string, string> = {},
  ): Promise<SupervisedSession> {
    return step(sessionId, ({ session, at }) => {
      refuseForeignCommand(operators, by, session.owner)
      const { status } = session.supervision
      if (status === to) return { result: null }
      if (status === 'terminated') throw sessionEnded(session.id)
      return {
        result: null,
        supervision: { status: to, ...(to === 'active' ? { updatedAt: at } : {}) },
        events: [noticeEvent(ids.uuid(), what, { by: by.user, ...details }, at)],
        audit: [about(session, at, by.user, { what, ...viaOf(by), ...details })],
      }
    })
  }

  const step = async (sessionId: string, decide: (now: SessionNow) => Step<unknown>): Promise<SupervisedSession> =>
    (await takeStep(sessionId, decide)).session

  async function instruct(
    by: Caller,
    sessionId: string,
    kind: Instruction['kind'],
    text: string,
  ): Promise<Instruction> {
    checkText(text)
    const { result } = await takeStep(sessionId, ({ session, at }) => {
      refuseForeignCommand(operators, by, session.owner)
      const { status, workspaceRoot } = session.supervision
      if (kind === 'steering' && status === 'terminated') throw sessionEnded(session.id)
      const instruction: Instruction = {
        id: ids.uuid(),
        kind,
        sessionId: kind === 'steering' ? session.id : null,
        owner: session.owner,
        workspaceRoot,
        text,
        source: `${by.user} via ${channelOf(by)}`,
        createdAt: at,
        deliveredAt: null,
      }
      return {
        result: instruction,
        instructions: [instruction],
        events: isOpen(session.supervision)
          ? [noticeEvent(instruction.id, kind, { text, by: by.user, channel: channelOf(by) }, at)]
          : [],
        audit: [about(session, at, by.user, { what: kind, instruction: instruction.id, ...viaOf(by) })],
      }
    })
    return result
  }

  return {
    // Calls of a new connection that come at the same time open one session, not several.
    attach: (agent) =>
      attaching(JSON.stringify([agent.tokenId, agent.connectionId, agent.sessionId]), () => attach(agent)),
    arrive(sessionId) {
      present.set(sessionId, (present.get(sessionId) ?? 0) + 1)
      let isHere = true
      return () => {
        if (!isHere) return
        isHere = false
        const left = (present.get(sessionId) ?? 1) - 1
        if (left === 0) present.delete(sessionId)
        else present.set(sessionId, left)
      }
    },
    async create(by, { owner = by.user, prompt, title = null, channelId = null, restoredFrom = null, ...values }) {
      if (title !== null) checkText(title, 'title', MOST_TITLE_CHARS)
      return openNew(owner, { ...values, prompt, title, channelId, restoredFrom, status: 'created' })
    },
    get: find,
    async list({ owner, statuses, limit }) {
      const query = {
        ...(owner === undefined ? {} : { owner }),
        ...(statuses === undefined ? {} : { statuses }),
        limit,
      }
      return (await store.supervised.sessions(query)).filter(isSupervisedSession)
    },

    pause: (by, id) => command(by, id, 'paused', 'paused'),
    resume: (by, id) => command(by, id, 'active', 'resumed'),
    terminate: (by, id, reason) => command(by, id, 'terminated', 'terminated', reason === undefined ? {} : { reason }),
    interrupt: (sessionId, reason) =>
      step(sessionId, ({ session, at }) => {
        if (!isOpen(session.supervision)) return { result: null }
        return {
          result: null,
          supervision: { status: 'interrupted' },
          events: [noticeEvent(ids.uuid(), 'interrupted', { reason }, at)],
          audit: [about(session, at, 'server', { what: 'interrupted', reason })],
        }
      }),

    steer: (by, id, text) => instruct(by, id, 'steering', text),
    addTask: (by, id, text) => instruct(by, id, 'task', text),

    async setMode(by, sessionId, mode) {
      if (by === null && !deps.agentMaySetMode) {
        throw new ServerError(
          'forbidden',
          'The operator does not allow agents to change the mode. Go on in the mode as it is.',
        )
      }
      const { result, session: changed } = await takeStep(sessionId, ({ session, at }) => {
        if (by !== null) refuseForeignCommand(operators, by, session.owner)
        const { mode: previous } = session.supervision
        if (previous === mode) return { result: { previous } }
        const who = by?.user ?? session.supervision.host
        return {
          result: { previous },
          supervision: { mode },
          events: [noticeEvent(ids.uuid(), 'mode', { from: previous, to: mode, by: who }, at)],
          audit: [
            about(session, at, who, { what: 'mode', from: previous, to: mode, ...(by === null ? {} : viaOf(by)) }),
          ],
        }
      })
      if (result.previous !== mode) {
        deps.onMode?.({ session: changed, from: result.previous, to: mode, by: by?.user ?? changed.supervision.host })
      }
      return result
    },

    handOver: (by, sessionId, to) =>
      step(sessionId, ({ session, at }) => {
        refuseWithoutAdmin(operators, by)
        checkText(to, 'name', MOST_NAME_CHARS)
        if (!operators.isKnown(to)) {
          throw new ServerError(
            'invalid_request',
            `There is no operator ${JSON.stringify(to)}. quarterdeck.yaml names them.`,
          )
        }
        if (session.owner === to) return { result: null }
        return {
          result: null,
          owner: to,
          events: isOpen(session.supervision)
            ? [noticeEvent(ids.uuid(), 'handed_over', { from: session.owner, to, by: by.user }, at)]
            : [],
          audit: [about(session, at, by.user, { what: 'handed_over', from: session.owner, to, ...viaOf(by) })],
        }
      }),

    async sweep() {
      const open = await store.supervised.sessions({ statuses: openStatuses, limit: MOST_OPEN })
      for (const { id, supervision } of open) {
        const connectionId = supervision?.connectionId ?? null
        if (present.has(id) || (connectionId !== null && deps.isConnected(connectionId))) continue
        try {
          await step(id, (now) => overdue(now, ids))
        } catch (error) {
          logger.warn('a supervised session could not be looked after', { session_id: id, error })
        }
      }
    },
  }
}

/** What becomes of a session whose agent has no connection. Something that is pending keeps it as it is. */
function overdue({ session, waiting, at }: SessionNow, ids: Ids): Step<null> {
  const { status, updatedAt } = session.supervision
  const idle = at - updatedAt
  // A restored session waits for a person to start its agent again.
  const isAwaited = status === 'created' && session.supervision.restoredFrom === null
  if (isAwaited && idle >= CONNECT_MS) {
    const reason = 'The agent did not connect in time.'
    return {
      result: null,
      supervision: { status: 'terminated' },
      events: [noticeEvent(ids.uuid(), 'terminated', { reason }, at)],
      audit: [about(session, at, 'server', { what: 'terminated', reason })],
    }
  }
  const isPending = waiting.some(({ wait }) => wait !== 'alert')
  // A paused agent is silent because its operator wants it so, and only the operator wakes it: a call wakes an interrupted one.
  if (isAwaited || status === 'paused' || idle < SILENT_MS || isPending) return { result: null }
  const reason = 'Nobody has heard from the agent for half an hour.'
  return {
    result: null,
    supervision: { status: 'interrupted' },
    events: [noticeEvent(ids.uuid(), 'interrupted', { reason }, at)],
    audit: [about(session, at, 'server', { what: 'interrupted', reason })],
  }
}

export const about = (
  { id, agent }: Pick<SupervisedSession, 'id' | 'agent'>,
  at: number,
  by: string,
  details: AuditRecord['details'],
): AuditRecord => ({ at, kind: 'supervised', by, session: id, run: null, agent, tool: '', call: null, details })

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

const emptySupervision: Supervision = {
  status: 'active',
  version: 0,
  host: '',
  workspaceRoot: '',
  channelId: null,
  mode: 'remote',
  title: null,
  prompt: null,
  updatedAt: 0,
  terminatedAt: null,
  lastTool: null,
  nudgeCount: 0,
  silence: null,
  stallPaused: false,
  progressSnapshot: null,
  tokenId: '',
  connectionId: null,
  openRun: null,
  lastRun: null,
  continuesAlone: 0,
  givenInstructions: [],
  openNudge: null,
  restoredFrom: null,
  spawned: null,
}
