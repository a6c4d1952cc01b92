// heartbeat, remote_log and set_operational_mode: what an agent tells about itself.

import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { present } from '../../domain/present.ts'
import type { LineLevel } from '../../domain/supervision/delivery.ts'
import type { ProgressItem } from '../../domain/supervision/supervision.ts'
import type { Messenger } from '../messenger.ts'
import { progressEvent } from '../sessions/session-events.ts'
import type { SupervisedSessions } from '../sessions/supervised-sessions.ts'
import type { SupervisedSession, TakeStep } from '../sessions/take-step.ts'
import type { AgentService } from './agent-service.ts'
import type { AnswerCall } from './answer-call.ts'

interface ReportDeps {
  answerCall: AnswerCall
  takeStep: TakeStep
  sessions: Pick<SupervisedSessions, 'setMode'>
  stallsEnabled: boolean
  messenger: Pick<Messenger, 'postLog' | 'explainMode'>
}

/**
 * Queues a line for the session's chat room. Never waits for the chat; says why there is nothing to wait for. Throws `invalid_request` for
 * a thread that is not the session's.
 */
export type PostLog = (
  session: SupervisedSession,
  line: { level: LineLevel; message: string; thread: string | null },
) => Promise<{ posted: true } | { posted: false; reason: string }>

type Reports = Pick<AgentService, 'heartbeat' | 'remote_log' | 'set_operational_mode'>

const MOST_LOG_CHARS = 4_000
const MOST_PROGRESS = 100
const MOST_LABEL_CHARS = 200

export function createReports(deps: ReportDeps): Reports {
  const { answerCall, takeStep, sessions, stallsEnabled, messenger } = deps

  return {
    heartbeat: (call, input) =>
      answerCall(call, 'heartbeat', { ...input }, async ({ session }) => {
        const note = input.status_message?.slice(0, MOST_LOG_CHARS) ?? null
        const progress = input.progress_snapshot === undefined ? null : checkProgress(input.progress_snapshot)
        if (progress !== null) {
          await takeStep(session.id, ({ at }) => ({
            supervision: { progressSnapshot: progress },
            events: [progressEvent(progress, note, at)],
          }))
        }
        return {
          acknowledged: true,
          session_id: session.id,
          stall_detection_enabled: stallsEnabled && session.supervision.stallsOff !== true,
          pending_steering: [],
        }
      }),

    remote_log: (call, input) =>
      answerCall(call, 'remote_log', { ...input }, async ({ session }) => {
        const { message, level = 'info', thread_ts: thread = null } = input
        if (message.trim() === '' || [...message].length > MOST_LOG_CHARS) {
          throw new ServerError('invalid_request', `message needs 1 to ${MOST_LOG_CHARS} characters.`)
        }
        // The line is in the store, and gets to the chat when that takes it. Nobody knows its id there yet.
        return { ts: null, ...(await messenger.postLog(session, { level, message, thread })) }
      }),

    set_operational_mode: (call, { mode }) =>
      answerCall(call, 'set_operational_mode', { mode }, async ({ session }) => {
        const { previous } = await sessions.setMode(null, session.id, mode)
        const note = messenger.explainMode(mode, session)
        return present({ previous_mode: previous, current_mode: mode, note: note ?? undefined })
      }),
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
