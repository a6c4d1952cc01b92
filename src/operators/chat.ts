import type { SessionRecord } from '../domain/session/session.ts'
import type { Reach } from '../supervision/reach.ts'
import type { CreateChannel } from './operator.ts'

/** A chat service with rooms: one channel for each room, and what agents say there without asking anything. */
export interface Chat extends Pick<Reach, 'recent'> {
  /** The channel that takes lines for this room; null: there is no such room. */
  linesOf(room: string): string | null
  /** The session that a thread of this room belongs to; null: it is not one of ours. */
  sessionOfThread(room: string, thread: string): Promise<string | null>
  /** Tells the session's room something that is old news soon. It gets lost if the chat does not take it now. */
  tell(session: SessionRecord, text: string): void
  /** One for each room. */
  channels: readonly CreateChannel[]
  /**
   * Takes what people do there until the signal aborts: connects, and again whenever the connection is lost. Call it when the channels are
   * there; it may be called again afterwards. Without it messages are posted all the same. Left out: until it is closed.
   */
  serve(signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}
