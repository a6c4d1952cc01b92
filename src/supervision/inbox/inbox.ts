import type { Caller } from '../../domain/decision.ts'
import type { FeedItem } from '../../domain/feed.ts'
import type { Approval } from '../../domain/wait.ts'
import type { Feed } from '../../engine/feed.ts'
import type { Approvals } from '../approvals/approvals.ts'

/** Everything that waits for a person, of every kind and session. */
export interface Inbox {
  /**
   * Newest first. `cursor` is a number of the feed: whoever follows the feed after it sees every later change of the inbox, and
   * no item of the list comes as new again.
   */
  list(by: Caller, page: InboxPage): Promise<{ items: InboxItem[]; next: InboxPlace | null; cursor: number }>
}

/** Something that waits for a person. Approvals are the only kind so far. */
export interface InboxItem {
  kind: 'approval'
  approval: Approval
}

export interface InboxPage {
  limit: number
  before?: InboxPlace
}

/** A place in the list. It holds also when the item that was there is gone. */
export interface InboxPlace {
  createdAt: number
  id: string
}

/** Whether an item of the feed is about the inbox. */
export const isInboxItem = (item: FeedItem): boolean => item.kind === 'wait'

const READ_LIMIT = 256

export function createInbox({ approvals, feed }: { approvals: Pick<Approvals, 'list'>; feed: Feed }): Inbox {
  /** Ids of what began to wait after this number. */
  async function newSince(after: number): Promise<Set<string>> {
    const ids = new Set<string>()
    for (let position = after; ; ) {
      const items = await feed.items(position, READ_LIMIT)
      for (const item of items) if (isInboxItem(item) && item.status === 'pending') ids.add(item.id)
      if (items.length < READ_LIMIT) return ids
      position = items.at(-1)?.n ?? position
    }
  }

  return {
    async list(by, { limit, before }) {
      const cursor = await feed.head()
      const place = before === undefined ? {} : { before }
      const found = await approvals.list({ by, status: 'pending', limit: limit + 1, ...place })
      const listed = found.slice(0, limit)
      // What began to wait between the two reads is left to the feed, which tells of it after the cursor.
      const news = await newSince(cursor)
      const last = found.length > limit ? listed.at(-1) : undefined
      return {
        items: listed.filter(({ id }) => !news.has(id)).map((approval) => ({ kind: 'approval', approval })),
        next: last === undefined ? null : { createdAt: last.createdAt, id: last.id },
        cursor,
      }
    },
  }
}
