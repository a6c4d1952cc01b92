// Which items of the feed a channel has to show.

import { risks } from '../domain/agent/tool-settings.ts'
import type { Logger } from '../domain/logger.ts'
import type { FeedItem } from '../domain/session/feed.ts'
import type { QueuedDelivery } from '../domain/supervision/delivery.ts'
import type { Feed } from '../engine/feed.ts'
import type { SessionLog } from '../log/session-log.ts'
import { OUTBOX_ITEMS } from '../store/ports/outbox.ts'
import type { OperatorChannel } from './operator.ts'
import type { ShownFrom } from './shown-from.ts'

/** An item, and when it may be shown. */
export interface Wanted {
  item: FeedItem
  /** Epoch ms. */
  from: number
}

export interface WantedDeps {
  shownFrom: ShownFrom
  /** Whether the record of an item still waits for a person. */
  stillWaits: (item: FeedItem) => Promise<boolean>
  feed: Pick<Feed, 'oldest' | 'items'>
}

const READ_LIMIT = 256

export async function wantedOf(
  { shownFrom }: WantedDeps,
  channel: OperatorChannel,
  items: readonly FeedItem[],
): Promise<Wanted[]> {
  const wanted: Wanted[] = []
  for (const item of items) {
    const from = channel.concerns(item) ? await shownFrom(channel, item) : null
    if (from !== null) wanted.push({ item, from })
  }
  return wanted
}

/** What still waits of the items after `after`, up to `upTo`, as far as the feed knows them. One item for each record, the newest. */
export async function stillWaiting(
  deps: WantedDeps,
  channel: OperatorChannel,
  { after, upTo }: { after: number; upTo: number },
): Promise<Wanted[]> {
  const { feed, stillWaits } = deps
  const newest = new Map<string, FeedItem>()
  let place = Math.max((await feed.oldest()) - 1, after)
  while (place < upTo) {
    const items = await feed.items(place, READ_LIMIT)
    for (const item of items) if (item.kind === 'wait' && item.n <= upTo) newest.set(item.id, item)
    place = items.at(-1)?.n ?? upTo
  }
  const waiting: FeedItem[] = []
  for (const item of newest.values()) if (await stillWaits(item)) waiting.push(item)
  return wantedOf(
    deps,
    channel,
    waiting.sort((a, b) => a.n - b.n),
  )
}

export const notBeforeOf = (wanted: readonly Wanted[]): Record<number, number> =>
  Object.fromEntries(wanted.map(({ item, from }) => [item.n, from]))

// What a channel was only told the number of, because its outbox was full.

interface MissedDeps extends WantedDeps {
  log: Pick<SessionLog, 'commit'>
  logger: Logger
}

/**
 * A summary only counts. Whatever of it still waits for a person is shown by itself as soon as there is space: otherwise an agent that
 * asks very much could hide a question, and nobody would be asked after a long outage.
 */
export function createMissed(deps: MissedDeps, channel: OperatorChannel) {
  const { log, logger } = deps
  /** Numbers of the items that were only counted; null: all were shown. */
  let gap: { after: number; upTo: number } | null = null
  let mostWaiting = OUTBOX_ITEMS - 1
  /** What the channel has refused for good is not tried for ever. */
  const taken = new Set<number>()

  return {
    /** A summary that began with item `n` was shown. `upTo`: how far the channel had looked by then. */
    summed(n: number, upTo: number | null): void {
      if (upTo === null) return
      gap = { after: Math.min(gap?.after ?? n - 1, n - 1), upTo: Math.max(gap?.upTo ?? 0, upTo) }
      mostWaiting = OUTBOX_ITEMS - 1
    },

    /** True: something was put into the outbox. Never rejects. */
    async takeBack(deliveries: readonly QueuedDelivery[]): Promise<boolean> {
      const isSummed = deliveries.some(({ item }) => item === null)
      if (gap === null || isSummed || deliveries.length > mostWaiting) return false
      const known = new Set(deliveries.flatMap(({ item }) => item?.id ?? []))
      try {
        const waiting = await stillWaiting(deps, channel, gap)
        const left = waiting.filter(({ item }) => !taken.has(item.n) && !known.has(item.id)).sort(mostCriticalFirst)
        const fitting = left.slice(0, OUTBOX_ITEMS - deliveries.length)
        const items = fitting.map(({ item }) => item)
        if (items.length > 0) {
          const notBefore = notBeforeOf(fitting)
          await log.commit({ type: 'replay_deliveries', channel: channel.name, items, notBefore })
        }
        for (const { n } of items) taken.add(n)
        if (left.length === fitting.length) gap = null
        // Looking again for every single place would cost too much.
        else mostWaiting = OUTBOX_ITEMS / 2
        return items.length > 0
      } catch (error) {
        logger.warn('what a channel has missed could not be taken', { channel: channel.name, error })
        mostWaiting = Math.floor(deliveries.length / 2)
        return false
      }
    },
  }
}

const riskOf = ({ item }: Wanted): number =>
  item.kind === 'wait' && item.risk !== null ? risks.indexOf(item.risk) : -1
const mostCriticalFirst = (one: Wanted, other: Wanted): number =>
  riskOf(other) - riskOf(one) || one.item.n - other.item.n
