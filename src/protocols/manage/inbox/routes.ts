// For operators: what waits for a person, as a list and as a stream.

import { parseUuid, ulidOf } from '../../../domain/ids.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Feed } from '../../../engine/feed.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { type Inbox, type InboxItem, type InboxPlace, isInboxItem } from '../../../supervision/inbox/inbox.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { decodePage, nextLink, queryProblem } from '../../shared/request/page.ts'
import { approvalView } from '../approvals/encode.ts'
import { feedId } from '../events/cursor.ts'
import { describeInboxEvents } from '../events/describe.ts'
import { cursorOf, openStream } from '../events/routes.ts'
import { streamFeed } from '../events/stream-feed.ts'
import { describeInbox } from './describe.ts'

export interface InboxRoutesDeps {
  engine: Pick<Engine, 'runs'>
  feed: Feed
  inbox: Inbox
}

const PAGE = { max: 100, fallback: 50 }

export function createInboxRoutes({ engine, feed, inbox }: InboxRoutesDeps): Route[] {
  async function list(request: Request, reply: Reply): Promise<void> {
    const { limit, before } = decodePage(request, PAGE)
    const place = before === undefined ? {} : { before: parsePlace(before) }
    const { items, next, cursor } = await inbox.list(callerOf(request.principal), { limit, ...place })
    const link = nextLink('/inbox', request.query, next === null ? null : `${next.createdAt}.${ulidOf(next.id)}`)
    reply.json(200, { items: items.map(itemView), cursor: feedId(cursor) }, link)
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
    { ...shared, path: '/inbox', summary: 'Everything that waits for a person', describe: describeInbox, handle: list },
    {
      ...shared,
      path: '/inbox/events',
      summary: 'Changes of the inbox: live, with resume',
      describe: describeInboxEvents,
      handle: events,
    },
  ]
}

function itemView({ kind, approval }: InboxItem) {
  const { approval_id: id, session_id, agent, created_at, expires_at, ...rest } = approvalView(approval)
  const shared = { session_id, agent, created_at, expires_at }
  return { id, kind, owner: approval.owner, ...shared, approval: { approval_id: id, ...shared, ...rest } }
}

function parsePlace(text: string): InboxPlace {
  const [, time, name = ''] = /^(\d{1,15})\.(.+)$/.exec(text) ?? []
  const id = parseUuid(name)
  if (id !== null) return { createdAt: Number(time), id }
  throw queryProblem({ pointer: 'before', detail: 'Send what came in the Link header of the page before.' })
}
