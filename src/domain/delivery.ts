import type { FeedItem } from './feed.ts'

/** Something that a channel still has to show its operators. */
export interface Delivery {
  /** Name of the channel. */
  channel: string
  /** Grows with every delivery of a channel. Together with its name it says which delivery this is, also when it is tried again. */
  n: number
  /** What changed; null: a summary of `count` items that cannot be shown one by one. */
  item: FeedItem | null
  count: number
  /** How often it has failed. */
  attempts: number
  /** Epoch ms of the next try; 0: at once. */
  nextTryAt: number
}

/** Something that a channel remembers for itself: the message that begins a session's thread, a subscription. */
export interface ChannelNote {
  /** Name of the channel. */
  channel: string
  key: string
  /** Id of the session with which the note is removed; null: it is about none. */
  session: string | null
  value: string
  /** Epoch ms of the last change. */
  at: number
}
