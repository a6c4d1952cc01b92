import type { Risk } from '../../domain/agent/tool-settings.ts'
import type { Clock } from '../../domain/clock.ts'
import { isWaiting, type PersonRecord } from '../../domain/records/record.ts'
import { type PersonKind, personKinds } from '../../domain/records/record-kinds.ts'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { Feed } from '../../engine/feed.ts'
import { createSyncedWaits } from '../../engine/waits/synced-waits.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { WaitQuery, WaitReads } from '../../store/ports/waits.ts'

/** Everything that waits or waited for a person, of every kind and session. */
export interface Inbox {
  /**
   * Newest first. `cursor` is a number of the feed: whoever follows the feed after it sees every later change of the inbox, and
   * no item of the list comes as new again.
   */
  list(by: Caller, page: InboxPage): Promise<{ items: PersonRecord[]; next: InboxPlace | null; cursor: number }>
}

export interface InboxPage {
  limit: number
  before?: InboxPlace | undefined
  owner?: string | undefined
  kind?: PersonKind | undefined
  /** `done`: what nobody has to answer any more. Undefined: what waits. */
  status?: 'waiting' | 'done' | undefined
  sessionId?: string | undefined
  /** Only approvals have a risk. */
  risk?: Risk | undefined
  /** Only what has waited for at least this long. */
  minAgeMs?: number | undefined
}

/** A place in the list. It holds also when the item that was there is gone. */
export type InboxPlace = NonNullable<WaitQuery['before']>

/** Whether an item of the feed is about the inbox. */
export const isInboxItem = (item: FeedItem): boolean => item.kind === 'wait'

const READ_LIMIT = 256

interface InboxDeps {
  waits: WaitReads
  log: Pick<SessionLog, 'synced'>
  feed: Feed
  clock: Pick<Clock, 'now'>
}

export function createInbox({ waits, log, feed, clock }: InboxDeps): Inbox {
  const synced = createSyncedWaits(waits, log)

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

  /** Records across the kinds, newest first. What is done comes with what waits: no index tells them apart. */
  async function read(by: Caller, page: InboxPage): Promise<PersonRecord[]> {
    const { limit, kind, sessionId, risk, owner, before, status } = page
    const kinds =
      risk === undefined ? personKinds.filter((one) => kind === undefined || one === kind) : ['approval' as const]
    const query = {
      limit,
      isWaiting: status === 'done' ? undefined : true,
      owner: by.role === 'operator' ? owner : by.user,
      sessionId,
      before,
    }
    const found: PersonRecord[] = []
    for (const wait of kinds) found.push(...(await synced.list({ ...query, wait })))
    return found.sort(newestFirst).slice(0, limit)
  }

  /** Pages are read until enough of them fit. */
  async function fitting(by: Caller, page: InboxPage): Promise<PersonRecord[]> {
    const { risk, status = 'waiting', limit } = page
    // Between the read and its sync somebody may have answered.
    const fits = (wait: PersonRecord): boolean =>
      isWaiting(wait) === (status === 'waiting') &&
      (risk === undefined || (wait.wait === 'approval' && wait.risk === risk))
    const most = risk === undefined && status === 'waiting' ? limit : READ_LIMIT
    const found: PersonRecord[] = []
    for (let before = page.before; ; ) {
      const some = await read(by, { ...page, limit: most, before })
      found.push(...some.filter(fits))
      if (found.length >= limit || some.length < most) return found.slice(0, limit)
      before = some.at(-1)
    }
  }

  return {
    async list(by, asked) {
      const cursor = await feed.head()
      const { kind, risk, limit } = asked
      const isNothing = risk !== undefined && kind !== undefined && kind !== 'approval'
      const page = { ...asked, before: beginning(asked, clock.now()), limit: limit + 1 }
      const found = isNothing ? [] : await fitting(by, page)
      const listed = found.slice(0, limit)
      // What began to wait between the two reads is left to the feed, which tells of it after the cursor.
      const news = await newSince(cursor)
      const last = found.length > limit ? listed.at(-1) : undefined
      return {
        items: listed.filter(({ id }) => !news.has(id)),
        next: last === undefined ? null : { createdAt: last.createdAt, id: last.id },
        cursor,
      }
    },
  }
}

/** What is too young lies at the beginning of the list, so the list begins behind it. */
function beginning({ before, minAgeMs }: InboxPage, now: number): InboxPlace | undefined {
  if (minAgeMs === undefined) return before
  const youngest = { createdAt: now - minAgeMs + 1, id: '' }
  return before !== undefined && before.createdAt < youngest.createdAt ? before : youngest
}

const newestFirst = (a: PersonRecord, b: PersonRecord): number =>
  b.createdAt - a.createdAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
