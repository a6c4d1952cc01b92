import { ServerError } from '../errors.ts'
import type { Supervision } from '../supervision/supervision.ts'

/** created → active → paused | terminated | interrupted; paused → active | …; interrupted → active. */
export type SessionStatus = 'created' | 'active' | 'paused' | 'terminated' | 'interrupted'

export interface SessionRecord {
  /** Canonical UUIDv7. It can be printed as a ULID too. */
  id: string
  /** The user whose token started the session, or `local_user`. Changes only when a supervised session is handed over. */
  owner: string
  /** Name of the agent that owns this session. */
  agent: string
  /** The agent that took over the conversation in a handoff; null: `agent` answers. */
  activeAgent: string | null
  status: SessionStatus
  createdAt: number
  /** Changes with messages, runs and answers. */
  lastActivity: number
  /** When somebody last looked at it, to the minute. That keeps it from expiring, and nothing more. */
  lastRead?: number | undefined
  terminatedAt: number | null
  lastTool: string | null
  metadata: Record<string, unknown>
  /** The client's own name for this session, if it chose one. Unique per owner. */
  alias: string | null
  /** The user that a client without a token claims to be; absent: the owner. A filter, not an identity. Never changes. */
  label?: string | undefined
  /** What a person named it; absent: its title is made from what is said in it. Every character is visible. */
  title?: string | undefined
  /** Why its last run failed, in a few visible words; absent: it did not. */
  failure?: string | undefined
  /** Number of stored user, assistant and tool messages. */
  messageCount: number
  /** AG-UI shared state; undefined if the session has none. */
  state: unknown
  /** Not shown in lists, and deleted a day after the last activity. */
  unlisted: boolean
  /** Set for an agent that works in a host's program. Its own status is in there; `status` only says whether the session was deleted. */
  supervision?: Supervision | undefined
}

/** Owner of everything that clients without a token start. */
export const LOCAL_USER = 'local_user'

/** Throws `session_paused` or `session_ended`: the operator of a hosted agent lets it take no new message. */
export function refuseStopped(session: Pick<SessionRecord, 'supervision'> | null): void {
  const { hosted, status, held = false } = session?.supervision ?? {}
  if (hosted === undefined) return
  if (status === 'terminated') throw stoppedError(status)
  if (status === 'paused' || held) throw stoppedError('paused')
}

export const stoppedError = (status: 'paused' | 'terminated'): ServerError =>
  status === 'paused'
    ? new ServerError('session_paused', 'The operator has paused this session. It goes on when they resume it.')
    : new ServerError('session_ended', 'The operator has ended this session. Begin a new one.')

/** Throws `session_supervised`: an agent of ours cannot answer in the session of an agent elsewhere. */
export function refuseSupervised(session: Pick<SessionRecord, 'id' | 'supervision'> | null): void {
  if (session?.supervision === undefined || session.supervision.hosted !== undefined) return
  throw new ServerError(
    'session_supervised',
    `An agent elsewhere works in this session, so it takes no messages. Send it an instruction with POST /sessions/${session.id}/steer, and answer its questions at /inbox.`,
    { details: { session_id: session.id } },
  )
}
