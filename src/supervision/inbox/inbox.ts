import type { Risk } from '../../domain/agent/tool-settings.ts'
import type { Clock } from '../../domain/clock.ts'
import { endedAt, isWaiting, type PersonRecord } from '../../domain/records/record.ts'
import { type PersonKind, personKinds } from '../../domain/records/record-kinds.ts'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { SessionOverview } from '../../domain/session/session-overview.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { Feed } from '../../engine/feed.ts'
import { createSyncedWaits } from '../../engine/waits/synced-waits.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { WaitQuery } from '../../store/ports/waits.ts'
import type { Store } from '../../store/store.ts'
import { describeInShort } from '../records/describe-record.ts'
import { byUrgency, compareUrgency, riskOf, type Urgency, urgencyOf } from './urgency.ts'

/** Everything that waits or waited for a person, of every kind and session. */
export interface Inbox {
  /**
   * What waits, the most urgent first; what is done, the last decided first. `cursor` is a number of the feed: whoever follows the feed after it
   * sees every later change of the inbox, and no item of the list comes as new again.
   */
  list(by: Caller, page: InboxPage): Promise<InboxList>
}

interface InboxList {
  items: PersonRecord[]
  /** Not null: go on there, also if the page is short. */
  next: InboxPlace | null
  cursor: number
  /** How many fit the filter on all pages. Null: nobody counts what is done. */
  counts: Record<Risk, number> | null
}

export interface InboxPage {
  limit: number
  /** The `next` of a list with the same status. */
  before?: InboxPlace | undefined
  owner?: string | undefined
  kind?: PersonKind | undefined
  /** `done`: what nobody has to answer any more. Undefined: what waits. */
  status?: 'waiting' | 'done' | undefined
  sessionId?: string | undefined
  /** What is no approval counts as high. */
  risk?: Risk | undefined
  /** Only what has waited for at least this long. */
  minAgeMs?: number | undefined
  /** An agent of ours, or the host of one elsewhere. */
  agent?: string | undefined
  /** The path of a workspace, or the end of it. */
  folder?: string | undefined
  /** A text in what a list shows of an item. Case means nothing. */
  q?: string | undefined
}

/** A place in the list: of what waits in the order of urgency, of what is done by time. It holds also when the item that was there is gone. */
export type InboxPlace = Urgency | TimePlace
type TimePlace = NonNullable<WaitQuery['before']>

/** Whether an item of the feed is about the inbox. */
export const isInboxItem = (item: FeedItem): boolean => item.kind === 'wait'

const READ_LIMIT = 256
/** A filter that fits little would read years of what is done. The next page goes on. */
const MOST_READS_OF_DONE = 20

interface InboxDeps {
  store: Pick<Store, 'waits' | 'sessions'>
  log: Pick<SessionLog, 'synced'>
  feed: Feed
  clock: Pick<Clock, 'now' | 'soon'>
}

export function createInbox({ store, log, feed, clock }: InboxDeps): Inbox {
  const synced = createSyncedWaits(store.waits, log)

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

  /** Records across the kinds: what waits newest first, what is done the last decided first. */
  async function read(by: Caller, page: InboxPage, before: TimePlace | undefined): Promise<PersonRecord[]> {
    const { kind, sessionId, risk = 'high', owner, status } = page
    const kinds = personKinds.filter((one) => (kind ?? one) === one && (risk === 'high' || one === 'approval'))
    const query = {
      limit: READ_LIMIT,
      isWaiting: status !== 'done',
      isDone: status === 'done',
      owner: by.role === 'operator' ? owner : by.user,
      sessionId,
      before,
    }
    const found: PersonRecord[] = []
    for (const wait of kinds) found.push(...(await synced.list({ ...query, wait })))
    return found.sort(newestFirst(page)).slice(0, READ_LIMIT)
  }

  /** Page by page, in the order of `read`: what fits, and where the page ends; null: it is the last. */
  async function* pages(by: Caller, page: InboxPage, start?: TimePlace) {
    const known: Known = new Map()
    for (let before = start ?? youngest(page, clock.now()); ; ) {
      const some = await read(by, page, before)
      const last = some.length < READ_LIMIT ? undefined : some.at(-1)
      before = last && placeOf(last, page)
      yield { fitting: await fittingOf(some, page, known), end: before ?? null }
      if (before === undefined) return
      // SQLite answers at once, and thousands of items must not keep everybody else waiting.
      await new Promise<void>((resolve) => clock.soon(resolve))
    }
  }

  async function fittingOf(found: readonly PersonRecord[], page: InboxPage, known: Known): Promise<PersonRecord[]> {
    const { risk, status = 'waiting', minAgeMs = 0, agent, folder, q } = page
    const newest = clock.now() - minAgeMs
    const some = found.filter(
      (record) =>
        // Between the read and its sync somebody may have answered.
        isWaiting(record) === (status === 'waiting') &&
        (minAgeMs === 0 || record.createdAt <= newest) &&
        (risk === undefined || riskOf(record) === risk) &&
        (agent === undefined || record.agent === agent || record.supervised?.host === agent),
    )
    if (q === undefined && folder === undefined) return some
    const text = q?.toLowerCase() ?? ''
    const has = (words: readonly (string | null | undefined)[]): boolean =>
      words.some((one) => one?.toLowerCase().includes(text))
    const named = new Set(text === '' ? some : some.filter((record) => has(wordsOf(record))))
    // Only the session knows the folder and the title, and to ask for it costs more than the record.
    const unsure = folder === undefined ? some.filter((record) => !named.has(record)) : some
    const unknown = new Set(unsure.map(({ sessionId }) => sessionId).filter((id) => !known.has(id)))
    for (const session of await store.sessions.overview([...unknown])) known.set(session.id, session)
    return some.filter((record) => {
      const session = known.get(record.sessionId)
      return (folder === undefined || isIn(session, folder)) && (named.has(record) || has(wordsOfSession(session)))
    })
  }

  async function waiting(by: Caller, page: InboxPage) {
    const { limit, before } = page
    const risks = new Map<string, Risk>()
    const isLater = (one: PersonRecord): boolean =>
      before === undefined || !('risk' in before) || compareUrgency(urgencyOf(one), before) > 0
    let found: PersonRecord[] = []
    for await (const { fitting } of pages(by, page)) {
      for (const one of fitting) risks.set(one.id, riskOf(one))
      // All are looked at, and only a page is held.
      found = [...found, ...fitting.filter(isLater)].sort(byUrgency).slice(0, limit + 1)
    }
    const last = found.length > limit ? found[limit - 1] : undefined
    return { items: found.slice(0, limit), next: last === undefined ? null : urgencyOf(last), risks }
  }

  async function done(by: Caller, page: InboxPage) {
    const { limit, before } = page
    const start = before === undefined || 'risk' in before ? undefined : before
    const items: PersonRecord[] = []
    let last: TimePlace | null = null
    let reads = 0
    for await (const { fitting, end } of pages(by, page, start)) {
      items.push(...fitting)
      const lastItem = items.length > limit ? items[limit - 1] : undefined
      last = lastItem === undefined ? end : placeOf(lastItem, page)
      if (items.length > limit || ++reads === MOST_READS_OF_DONE) break
    }
    return { items: items.slice(0, limit), next: last, risks: null }
  }

  return {
    async list(by, page) {
      const cursor = await feed.head()
      const { items, next, risks } = await (page.status === 'done' ? done : waiting)(by, page)
      // What began to wait between the two reads is left to the feed, which tells of it after the cursor.
      const news = await newSince(cursor)
      const counts = { critical: 0, high: 0, low: 0 }
      for (const [id, risk] of risks ?? []) if (!news.has(id)) counts[risk] += 1
      return { items: items.filter(({ id }) => !news.has(id)), next, cursor, counts: risks === null ? null : counts }
    },
  }
}

const MOST_SEARCHED = 2_000

/** What the record itself says. */
function wordsOf(record: PersonRecord): (string | null | undefined)[] {
  const { id, owner, agent, tool, supervised } = record
  const shared = [id, owner, agent, tool, supervised?.host]
  if (record.wait !== 'approval') {
    const { title, gist } = describeInShort(record)
    return [...shared, title, gist]
  }
  // There may be thousands, and their title and gist are made of these words.
  const { title, description, action, question } = record
  return [
    ...shared,
    title,
    action,
    question?.message,
    record.supervised?.change?.path,
    description.slice(0, MOST_SEARCHED),
  ]
}

const wordsOfSession = (session: SessionOverview | undefined): (string | undefined)[] => [
  session?.title,
  session?.elsewhere?.workspaceRoot,
]

const isIn = (session: SessionOverview | undefined, folder: string): boolean => {
  const root = session?.elsewhere?.workspaceRoot
  return root !== undefined && (root === folder || root.endsWith(`/${folder}`))
}

type Known = Map<string, SessionOverview>

/** Where the list begins: what waits and is too young lies before it. */
const youngest = ({ minAgeMs, status }: InboxPage, now: number): TimePlace | undefined =>
  minAgeMs === undefined || status === 'done' ? undefined : { createdAt: now - minAgeMs + 1, id: '' }

type Order = Pick<InboxPage, 'status'>

const timeOf = (record: PersonRecord, { status }: Order): number =>
  status === 'done' ? endedAt(record) : record.createdAt

const placeOf = (record: PersonRecord, order: Order): TimePlace => ({ createdAt: timeOf(record, order), id: record.id })

const newestFirst = (order: Order) => (a: PersonRecord, b: PersonRecord) =>
  timeOf(b, order) - timeOf(a, order) || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
