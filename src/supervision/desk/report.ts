// heartbeat, remote_log, recover_state and set_operational_mode: what an agent tells, and what it may know about itself.

import { isoTime } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { type ProgressItem, supervisedStatuses } from '../../domain/supervision.ts'
import { isSupervised, isWaiting, type SupervisedWait } from '../../domain/wait.ts'
import type { Store } from '../../store/store.ts'
import { progressEvent } from '../sessions/session-events.ts'
import type { SupervisedSessions } from '../sessions/supervised-sessions.ts'
import { isSupervisedSession, type SupervisedSession, type TakeStep } from '../sessions/take-step.ts'
import type { AgentDesk } from './agent-desk.ts'
import type { AnswerCall, OpenCall } from './answer-call.ts'

interface ReportDeps {
  answerCall: AnswerCall
  takeStep: TakeStep
  sessions: Pick<SupervisedSessions, 'setMode'>
  store: Pick<Store, 'waits' | 'supervised' | 'sessions'>
  /** Whether somebody watches for silence. */
  stallsEnabled: boolean
  /** Posts a line to the session's channel. Null: none is configured. */
  postLog: PostLog | null
  /** What the mode means here, in a sentence; null: exactly what its name says. */
  explainMode: (mode: SupervisedSession['supervision']['mode']) => string | null
}

/** Resolves with the message's id at the channel, or null if the session has no channel. */
export type PostLog = (
  session: SupervisedSession,
  line: { level: string; message: string; thread: string | null },
) => Promise<string | null>

type Reports = Pick<AgentDesk, 'heartbeat' | 'remote_log' | 'recover_state' | 'set_operational_mode'>

const MOST_LOG_CHARS = 4_000
const MOST_PROGRESS = 100
const MOST_LABEL_CHARS = 200
const MOST_LISTED = 100

export function createReports(deps: ReportDeps): Reports {
  const { answerCall, takeStep, sessions, store, stallsEnabled, postLog, explainMode } = deps

  async function recover(open: OpenCall, wanted: string | undefined): Promise<Record<string, unknown>> {
    const target = wanted === undefined ? await latest(open) : await named(open, wanted)
    if (target === null) return { status: 'clean' }
    if (target.supervision.status === 'interrupted') await comeBack(open, target)
    const waiting = await pendingOf(target.id)
    const [last = null] = await store.supervised.checkpoints({ sessionId: target.id, limit: 1 })
    return {
      status: 'recovered',
      session_id: target.id,
      pending_requests: waiting.map(requestView),
      last_checkpoint:
        last === null ? null : { checkpoint_id: last.id, label: last.label, created_at: isoTime(last.createdAt) },
      progress_snapshot: target.supervision.progressSnapshot ?? [],
      // Those that wait come with the answer, as with every other.
      pending_tasks: [],
    }
  }

  async function named({ session }: OpenCall, id: string): Promise<SupervisedSession> {
    const found = await store.sessions.get(id)
    const isTheirs =
      found !== null &&
      isSupervisedSession(found) &&
      found.owner === session.owner &&
      found.supervision.workspaceRoot === session.supervision.workspaceRoot
    if (!isTheirs)
      throw new ServerError('record_not_found', `There is no session ${JSON.stringify(id)} to recover here.`)
    return found
  }

  /** The latest interrupted session of this owner in this workspace, or the latest with something pending. */
  async function latest({ session }: OpenCall): Promise<SupervisedSession | null> {
    const { owner, supervision } = session
    const here = { owner, workspaceRoot: supervision.workspaceRoot, limit: MOST_LISTED }
    const [interrupted] = await store.supervised.sessions({ ...here, statuses: ['interrupted'] })
    if (interrupted !== undefined && isSupervisedSession(interrupted)) return interrupted
    const others = await store.supervised.sessions({ ...here, statuses: supervisedStatuses })
    for (const one of others) if (isSupervisedSession(one) && (await pendingOf(one.id)).length > 0) return one
    return (await waitingTasks(session)).length > 0 ? session : null
  }

  /** The agent goes on in its old session. A session that this connection has just begun is not needed then, and no other has the connection. */
  async function comeBack({ session }: OpenCall, target: SupervisedSession): Promise<void> {
    const { connectionId } = session.supervision
    if (session.id !== target.id && connectionId !== null) {
      const ends = session.supervision.lastRun === null ? { status: 'terminated' as const } : {}
      await takeStep(session.id, () => ({ result: null, supervision: { ...ends, connectionId: null } }))
    }
    await takeStep(target.id, ({ session: { supervision }, at }) => ({
      result: null,
      supervision: {
        updatedAt: at,
        ...(supervision.status === 'interrupted' ? { status: 'active' as const } : {}),
        ...(connectionId === null ? {} : { connectionId }),
      },
    }))
  }

  const pendingOf = async (sessionId: string): Promise<SupervisedWait[]> =>
    (await store.waits.list({ sessionId, isWaiting: true, limit: MOST_LISTED }))
      .filter(isSupervised)
      .filter((wait) => isWaiting(wait) && wait.wait !== 'alert')

  const waitingTasks = ({ owner, supervision: { workspaceRoot: root } }: SupervisedSession) =>
    store.supervised.instructions({ kind: 'task', workspace: { owner, root }, isWaiting: true, limit: MOST_LISTED })

  return {
    heartbeat: (call, input) =>
      answerCall(call, 'heartbeat', { ...input }, async ({ session }) => {
        const note = input.status_message?.slice(0, MOST_LOG_CHARS) ?? null
        const progress = input.progress_snapshot === undefined ? null : checkProgress(input.progress_snapshot)
        if (progress !== null) {
          await takeStep(session.id, ({ at }) => ({
            result: null,
            supervision: { progressSnapshot: progress },
            events: [progressEvent(progress, note, at)],
          }))
        }
        return {
          acknowledged: true,
          session_id: session.id,
          stall_detection_enabled: stallsEnabled,
          pending_steering: [],
        }
      }),

    remote_log: (call, input) =>
      answerCall(call, 'remote_log', { ...input }, async ({ session }) => {
        const { message, level = 'info', thread_ts: thread = null } = input
        if (message.trim() === '' || [...message].length > MOST_LOG_CHARS) {
          throw new ServerError('invalid_request', `message needs 1 to ${MOST_LOG_CHARS} characters.`)
        }
        const ts = postLog === null ? null : await postLog(session, { level, message, thread })
        return { posted: ts !== null, ts }
      }),

    recover_state: (call, input) =>
      answerCall(call, 'recover_state', { ...input }, (open) => recover(open, input.session_id)),

    set_operational_mode: (call, { mode }) =>
      answerCall(call, 'set_operational_mode', { mode }, async ({ session }) => {
        const { previous } = await sessions.setMode(null, session.id, mode)
        const note = explainMode(mode)
        return { previous_mode: previous, current_mode: mode, ...(note === null ? {} : { note }) }
      }),
  }
}

const requestView = (wait: SupervisedWait) => ({
  request_id: wait.id,
  type: wait.wait === 'approval' ? wait.kind : wait.wait,
  title: titleOf(wait),
  created_at: isoTime(wait.createdAt),
})

function titleOf(wait: SupervisedWait): string {
  switch (wait.wait) {
    case 'approval':
      return wait.title
    case 'prompt':
      return wait.promptText.slice(0, MOST_LABEL_CHARS)
    case 'instruction':
      return wait.message.slice(0, MOST_LABEL_CHARS)
    case 'alert':
      return 'The agent is silent.'
  }
}

/** Throws `invalid_request`. The old snapshot stays. */
function checkProgress(given: unknown): ProgressItem[] {
  const wrong = (what: string) => new ServerError('invalid_request', `progress_snapshot ${what}. The old one stays.`)
  if (!Array.isArray(given)) throw wrong('must be a list of {label, status}')
  if (given.length > MOST_PROGRESS) throw wrong(`may have at most ${MOST_PROGRESS} items`)
  return given.map((item: unknown, i) => {
    const { label, status } = isRecord(item) ? item : {}
    if (typeof label !== 'string' || label.trim() === '' || [...label].length > MOST_LABEL_CHARS) {
      throw wrong(`item ${i} needs a label of 1 to ${MOST_LABEL_CHARS} characters`)
    }
    if (status !== 'done' && status !== 'in_progress' && status !== 'pending') {
      throw wrong(`item ${i} needs a status: done, in_progress or pending`)
    }
    return { label, status }
  })
}
