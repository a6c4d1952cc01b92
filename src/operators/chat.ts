import type { Reach } from '../supervision/reach.ts'
import type { CreateChannel } from './operator.ts'

/** A chat service with rooms: one channel for each room, and what agents say there without asking anything. */
export interface Chat extends Pick<Reach, 'postLog' | 'tell' | 'recent'> {
  /** One for each room. */
  channels: readonly CreateChannel[]
  /** Connects in the background, and again whenever the connection is lost. Call it when the channels are there. */
  start(): void
  close(): Promise<void>
}
