// For operators: one stream over all sessions.

import type { SessionRecord } from '../../../domain/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Feed } from '../../../engine/feed.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import { entryAt } from '../../shared/events/event-id.ts'
import { viewerOf } from '../../shared/request/caller.ts'
import { queryProblem } from '../../shared/request/page.ts'
import { type Cursor, feedId, MAX_SESSIONS, parseCursor } from './cursor.ts'
import { describeEvents } from './describe.ts'
import { streamFeed } from './stream-feed.ts'

export interface EventRoutesDeps {
  engine: Pick<Engine, 'runs' | 'sessions'>
  feed: Feed
  oversight: Oversight
}

export function createEventRoutes({ engine, feed, oversight }: EventRoutesDeps): Route[] {
  async function namedSessions(request: Request): Promise<SessionRecord[]> {
    const references = [...new Set(request.query.getAll('session'))]
    if (references.length > MAX_SESSIONS) {
      throw queryProblem({ pointer: 'session', detail: `Name at most ${MAX_SESSIONS} sessions.` })
    }
    const sessions = new Map<string, SessionRecord>()
    for (const reference of references) {
      const session = await oversight.session(viewerOf(request.principal), reference)
      sessions.set(session.id, session)
    }
    return [...sessions.values()]
  }

  async function events(request: Request, reply: Reply): Promise<void> {
    const cursor = cursorOf(request)
    const sessions = await namedSessions(request)
    const named = sessions.map(({ id }) => ({
      id,
      after: cursor?.sessions.find((one) => one.sessionId === id)?.seq ?? 0,
    }))
    if (cursor !== null) {
      refuseOtherSessions(cursor, sessions)
      await feed.assertKept(cursor.feed)
      for (const { id, after } of named) if (after > 0) await entryAt(engine.sessions, id, after)
    }
    const stream = { after: cursor?.feed ?? (await feed.head()), sessions: named, wants: () => true }
    await streamFeed({ feed, engine }, { ...stream, owner: request.principal.owner }, openStream(request, reply))
  }

  return [
    {
      method: 'GET',
      path: '/events',
      door: null,
      role: 'operator',
      body: 'none',
      summary: 'State changes of all sessions, and the events of some: live, with resume',
      describe: describeEvents,
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

/** A cursor that names no session fits any: the sessions are then read from their beginning. */
function refuseOtherSessions({ feed, sessions }: Cursor, named: readonly SessionRecord[]): void {
  const known = new Set(sessions.map(({ sessionId }) => sessionId))
  const isSame = known.size === named.length && named.every(({ id }) => known.has(id))
  if (known.size === 0 || isSame) return
  throw queryProblem({
    pointer: 'session',
    detail: `The cursor belongs to other sessions: ${[...known].join(', ')}. Name these, or send after=${feedId(feed)} to read the sessions that you name from their beginning.`,
  })
}
