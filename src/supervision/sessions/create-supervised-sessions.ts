import { ServerError } from '../../domain/errors.ts'
import { type OpenLimits, refuseOneMore } from '../../domain/session/open-limits.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { isOpen, openStatuses, type SupervisedStatus } from '../../domain/supervision/supervision.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { Replica } from '../../replicas/replica.ts'
import type { Store } from '../../store/store.ts'
import type { Workspaces } from '../workspace/allowed-workspace.ts'
import { createAttachAgent, hasLastingConnection } from './attach-agent.ts'
import { checkReason, checkText, MOST_NAME_CHARS, MOST_TITLE_CHARS } from './check-text.ts'
import { createInstructAgent } from './instruct-agent.ts'
import { refuseEnded, refuseForeignCommand, refuseUnknownOwner, refuseWithoutAdmin, viaOf } from './may-command.ts'
import { createOpenSession } from './open-session.ts'
import { activityEvent, shownIn } from './session-events.ts'
import { createSetMode, type SetModeDeps } from './set-mode.ts'
import type { SupervisedSessions } from './supervised-sessions.ts'
import {
  about,
  type Changes,
  findSupervised,
  isSupervisedSession,
  isWaitedFor,
  type SessionNow,
  type SessionParts,
  type SupervisedSession,
} from './take-step.ts'
import { createWorkspaceSession, refuseWorkspace, WORKSPACE_HOST } from './workspace-session.ts'

interface SessionsDeps extends SetModeDeps, Pick<SessionParts, 'clock' | 'logger'> {
  store: Pick<Store, 'sessions' | 'supervised' | 'grants' | 'runs'>
  log: Pick<SessionLog, 'commit'>
  maxOpen: OpenLimits
  /** Told why the server itself ended a session. What operators end is in the feed, and they know why. */
  onEnd: (session: SupervisedSession, text: string) => void
  workspaces: Workspaces
  /** Whether this connection is open, although no call is in work. */
  isConnected: (connectionId: string) => boolean
  replica: Pick<Replica, 'place' | 'board' | 'alone'>
}

/** A created session ends after this time without a connection. */
const CONNECT_MS = 30_000
/** A session without a stream and without a call for this long is interrupted. */
const SILENT_MS = 1_800_000
/** An agent whose connection is open all the time may be without it for this long: its server is restarted, or its network changes. */
const GONE_MS = 60_000
/** A process that has not looked for this long does not know what was open meanwhile. */
const LOOKED_MS = 30_000
const MOST_OPEN = 1_000
/** More than a server ever has at one time. */
const MORE_THAN_OPEN = 100_000

export function createSupervisedSessions(deps: SessionsDeps): SupervisedSessions {
  const { store, log, takeStep, operators, clock, ids, logger, maxOpen } = deps
  const { place, board, alone } = deps.replica
  const presence = createAgentPresence(board)
  const instruct = createInstructAgent(deps)
  /** Since when the connection of each session is not open, as far as this process has seen. */
  let goneSince = new Map<string, number>()
  let lookedAt = clock.mono()
  const openSession = createOpenSession({ log, clock, ids, logger, maxOpen, place })
  const workspaceSession = createWorkspaceSession({ store, openSession, takeStep, place, host: WORKSPACE_HOST })

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
      refuseWorkspace(session)
      const { status, updatedAt } = session.supervision
      // A hosted session that rests goes on with the next message.
      const { hosted, held = false } = session.supervision
      const rests = to === 'active' && status === 'interrupted' && hosted !== undefined && !held
      if (status === to || rests) return {}
      refuseEnded(session)
      return {
        supervision: { status: to, updatedAt: to === 'active' ? at : updatedAt },
        events: [activityEvent(ids.uuid(), what, { by: by.user, ...details }, at)],
        audit: [about(session, at, by.user, { what, ...viaOf(by), ...details })],
      }
    })
  }

  /** The program of a hosted agent that rests is ended for one that works. */
  const makesWay = async ({ id, supervision }: SessionRecord): Promise<boolean> =>
    supervision?.hosted !== undefined && supervision.turnEnded === true && (await store.runs.open(id)).length === 0

  const step = async (sessionId: string, decide: (now: SessionNow) => Changes): Promise<SupervisedSession> =>
    (await takeStep(sessionId, decide)).session

  /** Ends a session of which the server itself knows that it is over, and says why. */
  async function endHere(sessionId: string, isOver: (now: SessionNow) => End | null): Promise<SupervisedSession> {
    const { result: end, session } = await takeStep<End | null>(sessionId, (now) => {
      const found = isOver(now)
      if (found === null) return { result: null }
      const { status, reason } = found
      return {
        result: found,
        supervision: { status },
        events: [activityEvent(ids.uuid(), status, { reason }, now.at)],
        audit: [about(now.session, now.at, 'server', { what: status, reason })],
      }
    })
    if (end !== null) deps.onEnd(session, `The session is ${end.status}. ${end.reason}`)
    return session
  }

  return {
    attach: createAttachAgent({ ...deps, openSession, alone }),
    arrive: presence.arrive,
    async create({ id, owner, agent, ...values }) {
      if (values.title !== null) checkText(values.title, 'title', MOST_TITLE_CHARS)
      if (agent === undefined) return openSession(owner, { ...values, status: 'created' }, id)
      const rests = { status: 'interrupted', turnEnded: true, hosted: { acpSession: null } } as const
      return openSession(owner, { ...values, ...rests }, id, { unlisted: false, agent })
    },
    async checkCapacity(owner, ending) {
      const open = await store.supervised.sessions({ statuses: openStatuses, limit: MORE_THAN_OPEN })
      const counted: typeof open = []
      for (const session of open) if (session.id !== ending && !(await makesWay(session))) counted.push(session)
      refuseOneMore(owner, counted, maxOpen)
    },
    get: (sessionId) => findSupervised(store, sessionId),
    list: async (query) => (await store.supervised.sessions(query)).filter(isSupervisedSession),

    pause: (by, id) => command(by, id, 'paused', 'paused'),
    resume: (by, id) => command(by, id, 'active', 'resumed'),
    async terminate(by, id, reason) {
      checkReason(reason)
      return command(by, id, 'terminated', 'terminated', reason === undefined ? {} : { reason })
    },
    interrupt: (sessionId, reason) =>
      endHere(sessionId, ({ session }) => (isOpen(session.supervision) ? { status: 'interrupted', reason } : null)),

    steer: (by, id, text) => instruct(by, id, 'steering', text),
    addTask: (by, id, text) => instruct(by, id, 'task', text),
    async ofWorkspace(owner, workspace, reportsTo = null) {
      refuseUnknownOwner(operators, owner)
      const { path, channelId } = deps.workspaces.find(workspace)
      return workspaceSession(owner, { path, channelId: channelId ?? reportsTo })
    },
    setMode: createSetMode(deps),
    handOver: (by, sessionId, to) =>
      step(sessionId, ({ session, at }) => {
        refuseWithoutAdmin(operators, by, 'hand a session over')
        refuseWorkspace(session)
        checkText(to, 'name', MOST_NAME_CHARS)
        if (!operators.isKnown(to)) {
          throw new ServerError(
            'invalid_request',
            `There is no operator ${JSON.stringify(to)}. quarterdeck.yaml names them.`,
          )
        }
        if (session.owner === to) return {}
        return {
          owner: to,
          events: shownIn(
            session,
            activityEvent(ids.uuid(), 'handed_over', { from: session.owner, to, by: by.user }, at),
          ),
          audit: [about(session, at, by.user, { what: 'handed_over', from: session.owner, to, ...viaOf(by) })],
        }
      }),

    async goodbye(connectionId) {
      const open = await store.supervised.sessions({ statuses: openStatuses, limit: MOST_OPEN })
      for (const { id, supervision } of open) {
        if (supervision?.connectionId !== connectionId) continue
        await endHere(id, ({ session: { supervision: now } }) => {
          // Another window may have taken it up meanwhile. A process that we started is about to end, which tells more.
          const isOver = isOpen(now) && now.connectionId === connectionId && now.spawned === null
          return isOver ? { status: 'interrupted', reason: 'Its window was closed.' } : null
        })
      }
    },

    async sweep() {
      const open = await store.supervised.sessions({ statuses: openStatuses, limit: MOST_OPEN })
      const isPresent = await presence.look()
      const mono = clock.mono()
      const before = mono - lookedAt < LOOKED_MS ? goneSince : new Map<string, number>()
      lookedAt = mono
      goneSince = new Map()
      for (const { id, supervision } of open) {
        const connectionId = supervision?.connectionId ?? null
        if (isPresent(id) || (connectionId !== null && deps.isConnected(connectionId))) continue
        const since = before.get(id) ?? mono
        goneSince.set(id, since)
        try {
          await endHere(id, (now) => overdue(now, mono - since))
        } catch (error) {
          logger.warn('a supervised session could not be looked after', { session_id: id, error })
        }
      }
    },
  }
}

interface End {
  status: 'terminated' | 'interrupted'
  reason: string
}

/** What becomes of a session whose agent has been without a connection for `goneMs`. Null: it stays as it is. */
function overdue({ session, waiting, at }: SessionNow, goneMs: number): End | null {
  const { status, updatedAt, restoredFrom, hosted } = session.supervision
  // Its program is ours, and ends when it has been idle for long enough.
  if (hosted !== undefined) return null
  const idle = at - updatedAt
  if (status === 'created') {
    if (idle < CONNECT_MS) return null
    // A person has to start the agent of a restored session again. It frees its place for others, and the agent still finds it later.
    return restoredFrom === null
      ? { status: 'terminated', reason: 'The agent did not connect in time.' }
      : { status: 'interrupted', reason: 'The agent has not come back yet.' }
  }
  // Its agent may come back for the answer.
  if (waiting.some(isWaitedFor)) return null
  if (idle >= SILENT_MS) return { status: 'interrupted', reason: 'Nobody has heard from the agent for half an hour.' }
  const isGone = hasLastingConnection(session.supervision) && Math.min(goneMs, idle) >= GONE_MS
  return isGone ? { status: 'interrupted', reason: 'Its window has been gone for a minute.' } : null
}

const PRESENT = 'present sessions'

/** Which sessions have an agent that is connected. */
function createAgentPresence(board: Pick<Replica['board'], 'say' | 'listen'>) {
  /** How many connections of each session are open in this process. */
  const here = new Map<string, number>()
  board.say(PRESENT, () => [...here.keys()])
  return {
    /** An agent of the session is connected here until the returned function is called. */
    arrive(sessionId: string): () => void {
      here.set(sessionId, (here.get(sessionId) ?? 0) + 1)
      let isHere = true
      return () => {
        if (!isHere) return
        isHere = false
        const left = (here.get(sessionId) ?? 1) - 1
        if (left === 0) here.delete(sessionId)
        else here.set(sessionId, left)
      }
    },
    /** Asks the other processes. The returned function says whether an agent of the session is connected, here or there. */
    async look(): Promise<(sessionId: string) => boolean> {
      const heard = await board.listen(PRESENT)
      const elsewhere = new Set(heard.flatMap(({ said }) => (Array.isArray(said) ? said : [])))
      return (sessionId) => here.has(sessionId) || elsewhere.has(sessionId)
    },
  }
}
