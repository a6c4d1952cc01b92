// The port behind which the ways to reach operators stand: chat, push notifications, webhooks.

import type { PersonRecord } from '../domain/records/record.ts'
import type { FeedItem } from '../domain/session/feed.ts'
import type { SessionRecord } from '../domain/session/session.ts'
import type { ChannelLine, Delivery } from '../domain/supervision/delivery.ts'
import type { Surface } from '../supervision/sessions/set-mode.ts'

/** One way to reach operators. Every implementation that keeps messages and takes answers passes `operator.contract.ts`. */
export interface OperatorChannel {
  /** The outbox is kept under this name, so it stays the same across restarts. */
  readonly name: string
  /** The mode of a supervised session says which surfaces show its questions. */
  readonly surface: Surface
  /** The chat room behind it: it shows only sessions that report there. Left out: it shows those of every room. */
  readonly room?: string
  /** Whether the channel shows this change. Called once for each item of the feed, in order. */
  concerns(item: FeedItem): boolean
  /** From when on (epoch ms) it shows what this session asks, as `escalation` of the settings says; null: never. Left out: at once. */
  asksFrom?(item: FeedItem, session: SessionRecord): number | null
  /** Epoch ms before which a delivery is held: quiet hours, or the time of the next digest. Left out: it is shown at once. */
  notBefore?(delivery: Delivery, now: number): number
  /**
   * Another process may have delivered until now: what it has shown, or changed, this one does not know. Called each time before this
   * process begins to deliver. Left out: the channel remembers nothing of what it showed.
   */
  takeOver?(): void
  /**
   * Shows one change, or brings a message up to date that showed an earlier one. Resolves when the service has taken it. Gives
   * what the channel needs to find the message again (it is kept in `Approval.messageRefs` under the channel's name), or null.
   *
   * Deliveries of one session come one after the other, in order. A delivery may come again after a crash: `channel` and `n` tell
   * that it is the same, and it must not be shown twice. Throws `DeliveryFailed` when it should be tried again later or never; any
   * other error is tried again. Rejects soon after the signal aborts.
   */
  deliver(delivery: Delivery, signal: AbortSignal): Promise<string | null>
  /**
   * Shows everything that is due in one message, under the promises of `deliver`. Gives by number what `deliver` would give; what is not
   * in it was not shown. Left out: each is delivered by itself.
   */
  deliverTogether?(deliveries: readonly Delivery[], signal: AbortSignal): Promise<ReadonlyMap<number, string>>
  /** Which deliveries are shown together. Left out: all, if it shows any together. */
  isTogether?(delivery: Delivery): boolean
  /**
   * Posts a line that was queued for this channel, under the promises of `deliver`. A channel that says lines shows nothing of the feed.
   * Left out: it takes no lines.
   */
  say?(delivery: Delivery<ChannelLine>, signal: AbortSignal): Promise<void>
  /** Tells something that is not an item of the feed, such as a change of a mode. It may get lost. Left out: the channel tells nothing. */
  announce?(text: string): void
  /** Whether somebody is reached here at all, as it is set up now. False: it counts as not configured. Left out: somebody is. */
  isSetUp?(): boolean
  /** Why nobody is reached here just now, with how to mend it; null: it works. Left out: it always does. */
  trouble?(): string | null
  /** Takes no more answers, and ends its connections. */
  close(): Promise<void>
}

/** Where a channel looks up what it shows. */
export interface RecordLookup {
  /** The record behind an item, of whatever kind; null if it is gone or the item is about something else. */
  find(item: Pick<FeedItem, 'kind' | 'id'>): Promise<PersonRecord | null>
}

export type CreateChannel = (lookup: RecordLookup) => OperatorChannel

/** A delivery did not work, and the channel knows what to do about it. */
export class DeliveryFailed extends Error {
  /** Not before this many ms from now, as the service asked (`Retry-After`). */
  readonly retryAfterMs: number
  /** It will never work: the summary counts it. */
  readonly giveUp: boolean

  constructor(message: string, how: { retryAfterMs?: number; giveUp?: boolean; cause?: unknown } = {}) {
    super(message, how.cause === undefined ? undefined : { cause: how.cause })
    this.name = 'DeliveryFailed'
    this.retryAfterMs = how.retryAfterMs ?? 0
    this.giveUp = how.giveUp ?? false
  }
}

/** Rejects when the signal aborts: what does not listen to its signal must not hold up the others. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new DeliveryFailed('The delivery took too long.'))
    // Also if the signal has aborted: a failure that nobody listens to ends the process.
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
