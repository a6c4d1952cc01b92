// For operators: what waits for a person, as a list and as a stream.

import { personKinds, recordKinds, wireKinds } from '../../../domain/records/record-kinds.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Feed } from '../../../engine/feed.ts'
import { isConsole, type Reply, type Request, type Route } from '../../../http/route.ts'
import { type Inbox, type InboxPage, isInboxItem } from '../../../supervision/inbox/inbox.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { parsePlace, printPlace } from '../../shared/request/list-place.ts'
import { decodePage, nextLink, queryProblem } from '../../shared/request/page.ts'
import { feedId } from '../events/cursor.ts'
import { describeInboxEvents } from '../events/describe.ts'
import { cursorOf, openStream } from '../events/routes.ts'
import { streamFeed } from '../events/stream-feed.ts'
import { createRecordViews } from '../records/record-views.ts'
import { decodeOwner, decodeSession } from '../supervision/decode.ts'
import { describeInbox } from './describe.ts'
import { itemView } from './item-view.ts'

export interface InboxRoutesDeps {
  engine: Pick<Engine, 'runs' | 'sessions'>
  feed: Feed
  inbox: Inbox
}

const PAGE = { max: 100, fallback: 50 }

export function createInboxRoutes({ engine, feed, inbox }: InboxRoutesDeps): Route[] {
  const recordViews = createRecordViews(engine)

  async function list(request: Request, reply: Reply): Promise<void> {
    const { limit, before } = decodePage(request, PAGE)
    const place = before === undefined ? {} : { before: parsePlace(before) }
    const page = { limit, ...place, ...filterOf(request) }
    const { items, next, cursor } = await inbox.list(callerOf(request.principal), page)
    const link = nextLink('/inbox', request.query, next === null ? null : printPlace(next))
    const views = await recordViews.many(items)
    const isMasked = isConsole(request)
    const shown = items.map((item) => itemView(item, { view: views(item), isMasked }))
    reply.json(200, { items: shown, cursor: feedId(cursor) }, link)
  }

  async function events(request: Request, reply: Reply): Promise<void> {
    const cursor = cursorOf(request)
    if (cursor !== null) await feed.assertKept(cursor.feed)
    const after = cursor?.feed ?? (await feed.head())
    const stream = { after, sessions: [], wants: isInboxItem, owner: request.principal.owner }
    await streamFeed({ feed, engine }, stream, openStream(request, reply))
  }

  const shared = { method: 'GET', door: null, role: 'operator', body: 'none' } as const
  return [
    {
      ...shared,
      path: '/inbox',
      summary: 'Everything that waits or waited for a person',
      describe: describeInbox,
      handle: list,
    },
    {
      ...shared,
      path: '/inbox/events',
      summary: 'Changes of the inbox: live, with resume',
      describe: describeInboxEvents,
      handle: events,
    },
  ]
}

function filterOf(request: Request): Omit<InboxPage, 'limit' | 'before'> {
  const owner = decodeOwner(request)
  const sessionId = decodeSession(request)
  const word = oneOf(request, 'kind', wireKinds)
  const kind = personKinds.find((one) => recordKinds[one].wire.kind === word)
  const risk = oneOf(request, 'risk', ['low', 'high', 'critical'] as const)
  const status = oneOf(request, 'status', ['waiting', 'done'] as const)
  const age = request.query.get('age')
  if (age !== null && !/^\d{1,9}$/.test(age)) {
    throw queryProblem({ pointer: 'age', detail: 'Send a whole number of seconds.' })
  }
  return {
    ...(owner === undefined ? {} : { owner }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(kind === undefined ? {} : { kind }),
    ...(risk === null ? {} : { risk }),
    ...(status === null ? {} : { status }),
    ...(age === null ? {} : { minAgeMs: Number(age) * 1_000 }),
  }
}

function oneOf<Word extends string>({ query }: Request, name: string, words: readonly Word[]): Word | null {
  const text = query.get(name)
  const word = words.find((one) => one === text)
  if (text === null || word !== undefined) return word ?? null
  throw queryProblem({ pointer: name, detail: `Send one of ${words.join(', ')}.` })
}
