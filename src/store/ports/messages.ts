import type { Feedback, MessageMark, StoredMessage } from '../../domain/session/message.ts'

/** A page has at most this many messages of sub-agents and activities beside its own. */
export const MOST_ASIDES = 500
/** A page has at most about this many characters of them. A single activity may have a million. */
export const MOST_ASIDE_CHARS = 4 * 1024 * 1024

/** How far back the last words of a session are looked for. */
export const MOST_LOOKED_AT = 200

export interface LastWords {
  user: string | null
  agent: string | null
}

export interface MessagePage {
  /** Only messages before this one, by its id. */
  before?: string | undefined
  /** No older message is added once the page has this many characters. It has at least one message. */
  maxChars?: number
  /**
   * Adds the messages of sub-agents and the activities that lie between and after those of the page: the newest `MOST_ASIDES`,
   * and no older one once they have `MOST_ASIDE_CHARS`. They count towards neither `limit` nor `maxChars`.
   */
  asides?: boolean
}

/** Messages are written by the commands that start, continue and finish a run. */
export interface MessageReads {
  /** The newest `limit` messages, oldest first, without superseded ones and those of sub-agents. */
  page(sessionId: string, limit: number, options?: MessagePage): Promise<StoredMessage[]>
  /** The newest `limit` messages of one sub-agent, oldest first, without superseded ones. */
  ofLane(sessionId: string, lane: string, limit: number): Promise<StoredMessage[]>
  /** The messages with these ids that the session has, superseded or not. */
  known(sessionId: string, ids: readonly string[]): Promise<StoredMessage[]>
  /** The same messages without their content, oldest first. A short request can name a long history. */
  marks(sessionId: string, ids: readonly string[]): Promise<MessageMark[]>
  /**
   * Of each session: the user's last words up to that time, and what its agent has said since then; null: nothing. As far as they are
   * among the newest `MOST_LOOKED_AT` messages, and only the beginning of long ones.
   */
  lastWords(of: readonly { sessionId: string; at: number }[]): Promise<LastWords[]>
  /** Whether a user message follows this one in the session's own conversation. Superseded ones do not count. */
  userSpokeAfter(sessionId: string, messageId: string): Promise<boolean>
  /** What people think of the answers of a session, oldest first. */
  feedback(sessionId: string): Promise<Feedback[]>
  /** Id of the session that has an answer with this id. Only an archive can bring the same one twice; then the latest counts. */
  sessionWithAnswer(messageId: string): Promise<string | null>
  /** Every message, also superseded ones and those of sub-agents, oldest first. */
  all(sessionId: string): Promise<StoredMessage[]>
}
