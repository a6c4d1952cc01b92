// How supervision reaches people beyond HTTP. The channels to operators stand behind it.

import type { OperationalMode } from '../domain/supervision/supervision.ts'
import type { PostLog } from './agent-service/report.ts'
import type { ModeChanged } from './sessions/set-mode.ts'
import type { SupervisedSession } from './sessions/take-step.ts'

export interface Messenger {
  /** Queues a line of an agent for the session's chat room. */
  postLog: PostLog
  /** Tells the session's chat room something that nobody has to answer, as soon as the chat takes it, also after a restart. */
  tell(session: SupervisedSession, text: string): void
  /** The same for what is old news soon. It gets lost if the chat does not take it now. */
  tellNow(session: SupervisedSession, text: string): void
  /** Tells those who are no longer asked after a change of the mode. */
  modeChanged: ModeChanged
  /** What a mode means for this session, if it is not what its name says. */
  explainMode(mode: OperationalMode, session: SupervisedSession): string | null
  /** Whether any channel is in trouble. Costs nothing, so it is asked before `trouble`. */
  isTroubled(): boolean
  /** Why nobody can be reached for this session, with how to mend it; null: somebody can. */
  trouble(session: SupervisedSession): string | null
  /** The chat room that the session reports to; null: none. */
  roomOf(session: SupervisedSession): string | null
  /** The newest messages of operators in a chat room, oldest first. Null: there is no such room. Throws `operator_unreachable`. */
  recent(room: string, limit: number): Promise<RecentMessages | null>
}

interface RecentMessages {
  messages: readonly { ts: string; user: string; text: string; thread_ts?: string }[]
  has_more: boolean
}
