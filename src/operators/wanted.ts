// Which items of the feed a channel has to show.

import type { FeedItem } from '../domain/session/feed.ts'
import type { Feed } from '../engine/feed.ts'
import type { OperatorChannel } from './operator.ts'
import type { ShownFrom } from './shown-from.ts'

/** An item, and when it may be shown. */
export interface Wanted {
  item: FeedItem
  /** Epoch ms. */
  from: number
}

export interface WantedDeps {
  /** Left out: every channel shows everything that concerns it, at once. */
  shownFrom?: ShownFrom
  /** Whether the record of an item still waits for a person. Left out: a channel is told only what happens from now on. */
  stillWaits?: (item: FeedItem) => Promise<boolean>
  feed: Pick<Feed, 'oldest' | 'items'>
}

const READ_LIMIT = 256

export async function wantedOf(
  { shownFrom = async () => 0 }: WantedDeps,
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
  if (stillWaits === undefined) return []
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
