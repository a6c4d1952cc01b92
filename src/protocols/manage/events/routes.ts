// One stream over all sessions that the caller may see.

import { z } from 'zod'
import type { FeedItem } from '../../../domain/session/feed.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Feed } from '../../../engine/feed.ts'
import { exampleOf } from '../../../http/describe-answer.ts'
import type { Reply, Request, ResponseDescription, Route } from '../../../http/route.ts'
import type { WhoLooks } from '../../../supervision/inbox/who-looks.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import { type EventId, entryAt, parseEventId } from '../../shared/events/event-id.ts'
import { callerOf, viewerOf } from '../../shared/request/caller.ts'
import { queryProblem } from '../../shared/request/page.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { type Cursor, MAX_SESSIONS, parseCursor } from './feed-view.ts'
import { FeedCursorSchema, FeedEntrySchema, FeedErrorSchema, FeedItemSchema, FeedTakenSchema } from './schema.ts'
import { streamFeed } from './stream-feed.ts'

export interface EventRoutesDeps {
  engine: Pick<Engine, 'runs' | 'sessions'>
  feed: Feed
  oversight: Oversight
  whoLooks: WhoLooks
}

export const feedTag = 'Operators'

export const feedStream = (description: string, schema: z.ZodType): ResponseDescription => ({
  description,
  content: { 'text/event-stream': { schema, example: exampleOf(FeedItemSchema) } },
})

/** Where a stream of the feed goes on, as `cursorOf` reads it. */
export const cursorQuery = {
  after: z
    .string()
    .optional()
    .describe(
      'The `id:` of a frame, or the id of a feed item: only what follows is sent. Left out: what happens from now on.',
    ),
}
export const cursorHeaders = {
  'Last-Event-ID': z.string().optional().describe('Like `after`, and wins over it. An EventSource sends it.'),
}

export function createEventRoutes({ engine, feed, oversight, whoLooks }: EventRoutesDeps): Route[] {
  async function namedSessions(request: Request, cursor: Cursor | null): Promise<{ id: string; after: number }[]> {
    const references = [...new Set(request.query.getAll('session'))]
    if (references.length > MAX_SESSIONS) {
      throw queryProblem({ pointer: 'session', detail: `Name at most ${MAX_SESSIONS} sessions.` })
    }
    const named = new Map<string, { id: string; after: number }>()
    for (const reference of references) {
      const start = placeOf(reference)
      const { id } = await oversight.session(viewerOf(request), start?.sessionId ?? reference)
      // Of the other sessions that a cursor names, the reader wants no more.
      const seen = cursor?.sessions.find((one) => one.sessionId === id)
      named.set(id, { id, after: (seen ?? start)?.seq ?? 0 })
    }
    return [...named.values()]
  }

  async function events(request: Request, reply: Reply): Promise<void> {
    const cursor = cursorOf(request)
    const sessions = await namedSessions(request, cursor)
    if (cursor !== null) await feed.assertKept(cursor.feed)
    for (const { id, after } of sessions) if (after > 0) await entryAt(engine.sessions, id, after)
    const { owner, role } = request.principal
    const wants = (item: FeedItem): boolean => role === 'operator' || item.owner === owner
    const looks = role === 'operator' ? whoLooks.besides(callerOf(request).user) : null
    const stream = { after: cursor?.feed ?? (await feed.head()), sessions, wants, looks, owner }
    await streamFeed({ feed, engine }, stream, openStream(request, reply))
  }

  return [
    {
      ...routeHeads(null, 'user').get,
      path: '/events',
      summary: 'State changes of all sessions, and the events of some: live, with resume',
      describe: () => ({
        tag: feedTag,
        description:
          'State changes of all sessions, runs and approvals, and everything that happens in the named sessions. An operator sees those of everybody, others see their own. The feed never carries text. Each `id:` is one cursor over all of it: every later frame comes once, in order for each source.',
        query: {
          session: z
            .array(z.string())
            .max(MAX_SESSIONS)
            .optional()
            .describe(
              'UUID or ULID of a session, up to 8 times: its events are sent from its beginning on. Or the id of one of its events: those after it. Where the cursor names the session, the cursor counts.',
            ),
          ...cursorQuery,
        },
        headers: cursorHeaders,
        responses: {
          200: feedStream(
            'The feed, and the events of the named sessions.',
            z.union([FeedItemSchema, FeedEntrySchema, FeedTakenSchema, FeedCursorSchema, FeedErrorSchema]),
          ),
        },
        errors: ['invalid_request', 'malformed_id', 'session_not_found', 'events_gone', 'storage_failed'],
      }),
      handle: events,
    },
  ]
}

/** Where the reader wants to go on; null: from now on. Throws `malformed_id`. */
export function cursorOf(request: Pick<Request, 'header' | 'query'>): Cursor | null {
  const text = request.header('last-event-id') ?? request.query.get('after')
  return text === null ? null : parseCursor(text)
}

export const openStream = ({ signal, log }: Request, reply: Reply) => ({ stream: reply.sse(), signal, log })

/** A session may be named by one of its event ids: it then begins after that event. */
function placeOf(reference: string): EventId | null {
  try {
    return parseEventId(reference)
  } catch {
    return null
  }
}
