import type { MessageMark, StoredMessage } from '../../domain/message.ts'

/** How many messages of sub-agents and activities a page has at most beside its own. */
export const MOST_ASIDES = 500
/** How many characters of them: one activity alone may have a million. */
export const MOST_ASIDE_CHARS = 4 * 1024 * 1024

/** Messages are written by the commands that start, continue and finish a run. */
export interface MessageReads {
  /**
   * The newest `limit` messages before `before` (a message id), oldest first, without superseded ones and those of sub-agents.
   * With `maxChars` no older message is added once the page has that many characters; it has at least one message.
   *
   * With `asides` the page also has the messages of sub-agents and the activities between and after its own: the newest
   * `MOST_ASIDES`, and no older one once they have `MOST_ASIDE_CHARS`. They count towards neither `limit` nor `maxChars`.
   */
  page(sessionId: string, limit: number, before?: string, maxChars?: number, asides?: boolean): Promise<StoredMessage[]>
  /** The newest `limit` messages of one sub-agent, oldest first, without superseded ones. */
  ofLane(sessionId: string, lane: string, limit: number): Promise<StoredMessage[]>
  /** The messages with these ids that the session has, superseded or not. */
  known(sessionId: string, ids: readonly string[]): Promise<StoredMessage[]>
  /** The same without their content, oldest first: a short request can name a long history. */
  marks(sessionId: string, ids: readonly string[]): Promise<MessageMark[]>
  /** Whether a user message follows this one in the session's own conversation; superseded ones do not count. */
  userSpokeAfter(sessionId: string, messageId: string): Promise<boolean>
  /** Every message, also superseded ones and those of sub-agents, oldest first. */
  all(sessionId: string): Promise<StoredMessage[]>
}
