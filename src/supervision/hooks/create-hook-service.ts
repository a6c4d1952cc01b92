import type { Clock } from '../../domain/clock.ts'
import { type Instruction, isOpen, openStatuses } from '../../domain/supervision/supervision.ts'
import { sha256 } from '../../json/digest.ts'
import type { Shared } from '../../store/ports/shared.ts'
import type { Store } from '../../store/store.ts'
import { activity } from '../agent-service/answer-call.ts'
import type { AskPermission } from '../agent-service/approve-tool.ts'
import { hookConnection, isBegunByHook } from '../sessions/attach-agent.ts'
import { activityEvent } from '../sessions/session-events.ts'
import type { AgentIdentity } from '../sessions/supervised-sessions.ts'
import {
  about,
  type Changes,
  isSupervisedSession,
  type SessionParts,
  type Step,
  type SupervisedSession,
} from '../sessions/take-step.ts'
import { type HookAgent, type HookReply, type HookService, MOST_REPLY_CHARS } from './hook-service.ts'

interface HookServiceDeps extends Pick<SessionParts, 'takeStep' | 'ids' | 'logger'> {
  store: Pick<Store, 'supervised' | 'sessions'>
  askPermission: AskPermission
  /** Remembers which session of a host is which of ours. */
  shared: Pick<Shared, 'get' | 'list' | 'put' | 'take'>
  clock: Pick<Clock, 'now'>
}

const MOST_OPEN = 100
const MOST_STEERING_SHOWN = 50
const SEPARATOR = '\n\n'
/** Our session, by token and the host's name for its own, and the other way round: a session of ours has one name. */
const BY_NAME = 'hook of host'
const BY_SESSION = 'hook of session'
/** How long a host's session is remembered. One that is forgotten is matched again. */
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1_000

/** The window that a session belongs to. When another one takes the session up, the name of the first means nothing any more. */
const windowOf = ({ id, supervision: { takenUpAs } }: SupervisedSession): string =>
  takenUpAs === undefined ? id : `${id} ${takenUpAs}`

type Source = Parameters<typeof hookConnection>[0]

/**
 * Hooks come from a process of their own, so they bring the host's name for its session and not ours. A new name gets the youngest
 * session of its token that has no name yet: that of the window that was opened last.
 */
export function createHookService({
  store,
  takeStep,
  askPermission,
  shared,
  ids,
  clock,
  logger,
}: HookServiceDeps): HookService {
  const keyOf = ({ tokenId }: HookAgent, { host, hostSessionId }: Source): string =>
    sha256(JSON.stringify([tokenId, host, hostSessionId]))

  /** False: the session has the name of another window. */
  async function bind(key: string, session: SupervisedSession): Promise<boolean> {
    const expiresAt = clock.now() + REMEMBERED_MS
    const window = windowOf(session)
    const name = { kind: BY_SESSION, key: window, value: key, version: 0, expiresAt }
    if (!(await shared.put(name)) && (await shared.get(BY_SESSION, window))?.value !== key) return false
    await shared.put({ kind: BY_NAME, key, value: window, version: null, expiresAt })
    return true
  }

  async function unbind(key: string, session: SupervisedSession): Promise<void> {
    await shared.take(BY_NAME, key)
    await shared.take(BY_SESSION, windowOf(session))
  }

  async function find(agent: HookAgent, source: Source): Promise<SupervisedSession | null> {
    const key = keyOf(agent, source)
    const known = await shared.get(BY_NAME, key)
    if (known !== null) {
      const session = await store.sessions.get(known.value.split(' ')[0] ?? '')
      if (!isSupervisedSession(session) || session.status === 'terminated') return null
      if (windowOf(session) === known.value) return session
    }
    const { tokenId } = agent
    const open = await store.supervised.sessions({ tokenId, statuses: openStatuses, limit: MOST_OPEN })
    const here = open.filter(isSupervisedSession)
    const own = here.filter(({ supervision }) => supervision.connectionId === hookConnection(source))
    // One that began with a hook has a name: that of its own window.
    const unnamed = here.filter((session) => !isBegunByHook(session)).toSorted((a, b) => b.createdAt - a.createdAt)
    for (const session of [...own, ...unnamed]) if (await bind(key, session)) return session
    return null
  }

  async function identity(agent: HookAgent, source: Source): Promise<AgentIdentity> {
    const session = await find(agent, source)
    const { owner, tokenId, workspace: workspaceRoot, channel: channelId = null } = agent
    return {
      owner,
      tokenId,
      workspaceRoot,
      channelId,
      isChannelOfToken: true,
      host: source.host,
      sessionId: session?.id ?? null,
      connectionId: hookConnection(source),
    }
  }

  /** The host's session is over, and so is ours. */
  const end = (sessionId: string, reason: string): Promise<unknown> =>
    takeStep(sessionId, ({ session, at }): Changes => {
      // Also one that was interrupted: otherwise another window would take it up.
      if (session.supervision.status === 'terminated') return {}
      return {
        // The window may stay open and begin anew.
        supervision: { status: 'terminated', connectionId: null },
        events: [activityEvent(ids.uuid(), 'terminated', { reason }, at)],
        audit: [about(session, at, session.supervision.host, { what: 'terminated', reason })],
      }
    })

  /** What the operator wants the agent to know. An agent that is heard from again has what the last answer brought. */
  async function tell(sessionId: string): Promise<HookReply> {
    const steering = await store.supervised.instructions({
      kind: 'steering',
      sessionId,
      isWaiting: true,
      limit: MOST_STEERING_SHOWN,
    })
    const { result } = await takeStep(sessionId, (now): Step<string[]> => {
      const { openNudge, givenInstructions, status } = now.session.supervision
      const isActive = status === 'active'
      // Oldest first. What does not fit any more waits for the next time.
      let left = isActive ? MOST_REPLY_CHARS : 0
      const fits = (text: string): boolean => {
        left -= text.length + SEPARATOR.length
        return left >= 0
      }
      const isNew = ({ id }: Instruction) => !givenInstructions.includes(id)
      const given = steering.filter(isNew).filter(({ text }) => fits(text))
      const nudge = openNudge !== null && fits(openNudge) ? openNudge : null
      const step = activity(now)
      const goesOn = given.length > 0 || nudge !== null
      return {
        ...step,
        result: [...given.map(({ text }) => text), ...(nudge === null ? [] : [nudge])],
        supervision: {
          ...step.supervision,
          turnEnded: !goesOn,
          givenInstructions: given.map(({ id }) => id),
          openNudge: nudge === null ? openNudge : null,
        },
        deliver: givenInstructions,
      }
    })
    return result.length === 0 ? {} : { text: result.join(SEPARATOR) }
  }

  return {
    async permission(agent, call, { signal, limitMs }) {
      const { host, toolName, toolUseId, isOwn, input, command } = call
      // Our own tools only ask and report, and the service checks each call by itself.
      if (isOwn) return { behavior: 'allow' }
      const who = await identity(agent, call)
      const verdict = await askPermission(
        { agent: who, signal, limitMs, progress() {} },
        {
          host,
          toolName,
          input,
          toolUseId,
          cwd: call.cwd === '' ? who.workspaceRoot : call.cwd,
          command: command ?? null,
          tellsEdits: true,
        },
      )
      if (verdict.behavior !== 'allow') return verdict
      return verdict.isEdited ? { behavior: 'allow', updatedInput: verdict.updatedInput } : { behavior: 'allow' }
    },

    async report(agent, told) {
      const session = await find(agent, told)
      if (session === null) return {}
      const { event, reason } = told
      if (event === 'session_end') {
        await end(session.id, `The host ended its session${reason === '' ? '' : ` (${reason.slice(0, 100)})`}.`)
        await unbind(keyOf(agent, told), session)
        return {}
      }
      if (event === 'notification' && reason === 'stop' && isOpen(session.supervision)) return await tell(session.id)
      logger.debug('a host reported', { session_id: session.id, event, reason })
      return {}
    },
  }
}
