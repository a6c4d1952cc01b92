import type { FeedItem } from '../session/feed.ts'

/** Something that a channel still has to show its operators. */
export interface Delivery<Item = FeedItem> {
  /** Name of the channel. */
  channel: string
  /** Grows with every delivery of a channel. Together with its name it says which delivery this is, also when it is tried again. */
  n: number
  /** What changed, or what is said; null: a summary of `count` items that cannot be shown one by one. */
  item: Item | null
  count: number
  attempts: number
  /** Epoch ms of the next try; 0: at once. */
  nextTryAt: number
}

export const lineLevels = ['info', 'success', 'warning', 'error'] as const
export type LineLevel = (typeof lineLevels)[number]

/** Something that a chat room is told, and that nobody answers. Its channel numbers its own lines. */
export interface ChannelLine {
  kind: 'line'
  n: number
  /** Epoch ms. */
  at: number
  /** The message at the chat has it too, so that nothing is posted twice. */
  id: string
  /** What it is about; null: something that has no session, such as a run that could not be started. */
  sessionId: string | null
  /** Whose words they are. */
  by: 'agent' | 'server'
  level: LineLevel
  text: string
  /** The thread that the agent wants it in; null: the one of its session. */
  thread: string | null
}

export type QueuedDelivery = Delivery<FeedItem | ChannelLine>
export const isOfLine = (delivery: QueuedDelivery): delivery is Delivery<ChannelLine> => delivery.item?.kind === 'line'
export const isOfFeed = (delivery: QueuedDelivery): delivery is Delivery => delivery.item?.kind !== 'line'

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
