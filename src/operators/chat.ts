import type { Reach } from '../supervision/reach.ts'
import type { CreateChannel } from './operator.ts'

/** A chat service with rooms: one channel for each room, and what agents say there without asking anything. */
export interface Chat extends Pick<Reach, 'postLog' | 'tell' | 'recent'> {
  /** One for each room. */
  channels: readonly CreateChannel[]
  /**
   * Takes what people do there until the signal aborts: connects, and again whenever the connection is lost. Call it when the channels are
   * there; it may be called again afterwards. Without it messages are posted all the same. Left out: until it is closed.
   */
  serve(signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}
