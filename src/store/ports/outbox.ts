// The outbox: what each channel still has to show its operators. It survives restarts, so nothing is lost while a channel is down.

import type { FeedItem } from '../../domain/session/feed.ts'
import type { ChannelLine, ChannelNote, QueuedDelivery } from '../../domain/supervision/delivery.ts'

export type OutboxCommand = TakeDeliveries | SettleDelivery | ReplayDeliveries | QueueLine | NoteForChannel

export interface OutboxReads {
  /** Number of the last item of the feed that the channel has looked at; null for a channel that has looked at none. */
  cursor(channel: string): Promise<number | null>
  /** What the channel still has to show, oldest first: at most `OUTBOX_ITEMS` items, and one summary. */
  deliveries(channel: string): Promise<QueuedDelivery[]>
  note(channel: string, key: string): Promise<ChannelNote | null>
  /** All notes of a channel, in the order of their keys. */
  notes(channel: string): Promise<ChannelNote[]>
  /** The notes of all channels about a session, in the order of the channels and keys. */
  notesOf(sessionId: string): Promise<ChannelNote[]>
}

/** Items that wait for one channel. While there are more, a summary counts them. */
export const OUTBOX_ITEMS = 256

/**
 * Synced. A channel has looked at the feed up to `upTo`, and has to show these items. What does not fit is counted in a summary,
 * and so is everything that follows until the summary was delivered. Refused (`conflict`) when the channel is not at `after`.
 */
export interface TakeDeliveries {
  type: 'take_deliveries'
  channel: string
  /** Where the channel was; null when it is new. */
  after: number | null
  upTo: number
  items: readonly FeedItem[]
  /** Epoch ms before which an item is not tried, by its number; absent: at once. */
  notBefore?: Readonly<Record<number, number>>
  /** Items that can no longer be read, because the feed has removed them. */
  skipped: number
}

/**
 * Synced. Says what became of a try. `delivered`: the first `count` items of a summary; `ref` is how the channel finds the message of
 * a wait again. `given_up`: it can never be shown, so the summary counts it. Refused (`conflict`) when there is no such delivery.
 */
export interface SettleDelivery {
  type: 'settle_delivery'
  channel: string
  n: number
  outcome:
    | { type: 'delivered'; count: number; ref: string | null }
    | { type: 'failed'; nextTryAt: number }
    | { type: 'given_up' }
}

/**
 * Synced. Shows these items once more, as far as they fit, whether or not they were delivered. The rest is counted in the summary.
 * They keep their numbers, so that whoever got them before can tell.
 */
export interface ReplayDeliveries extends Pick<TakeDeliveries, 'channel' | 'items' | 'notBefore'> {
  type: 'replay_deliveries'
}

/**
 * Synced. A line for a channel, after all that it was told before. The channel has no other items: its cursor is the number of its last
 * line. Refused (`limit`) while too many wait, of all sessions or of this one.
 */
export interface QueueLine {
  type: 'queue_line'
  channel: string
  line: Omit<ChannelLine, 'n'>
}

/** Lines of one session that wait for a channel. One agent cannot take the space of all others. */
export const MOST_LINES = 64

/** Synced. Writes a note of a channel, or removes it. With `was`, refused (`conflict`) unless that is its value; null: there is none. */
export type NoteForChannel = { type: 'note_for_channel'; was?: string | null | undefined } & (
  | ChannelNote
  | { channel: string; key: string; value: null }
)
