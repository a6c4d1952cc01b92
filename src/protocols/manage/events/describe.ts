// What the streams of the feed take and answer, for the document.

import { z } from 'zod'
import { exampleOf } from '../../../http/describe-answer.ts'
import type { ResponseDescription, RouteDescription } from '../../../http/route-description.ts'
import { MAX_SESSIONS } from './cursor.ts'
import { FeedCursorSchema, FeedEntrySchema, FeedErrorSchema, FeedItemSchema } from './schema.ts'

export const feedTag = 'Operators'

const stream = (description: string, schema: z.ZodType): ResponseDescription => ({
  description,
  content: { 'text/event-stream': { schema, example: exampleOf(FeedItemSchema) } },
})

const after = z
  .string()
  .optional()
  .describe(
    'The `id:` of a frame, or the id of a feed item: only what follows is sent. Left out: what happens from now on.',
  )
const headers = {
  'Last-Event-ID': z.string().optional().describe('Like `after`, and wins over it. An EventSource sends it.'),
}

export const describeEvents: RouteDescription = {
  tag: feedTag,
  description:
    'State changes of all sessions, runs and approvals, and everything that happens in the named sessions. The feed never carries text. Each `id:` is one cursor over all of it: every later frame comes once, in order for each source.',
  query: {
    session: z
      .array(z.string())
      .max(MAX_SESSIONS)
      .optional()
      .describe(
        'UUID or ULID of a session, up to 8 times: its events are sent from its beginning on. Or the id of one of its events: those after it. Where the cursor names the session, the cursor counts.',
      ),
    after,
  },
  headers,
  responses: {
    200: stream(
      'The feed, and the events of the named sessions.',
      z.union([FeedItemSchema, FeedEntrySchema, FeedCursorSchema, FeedErrorSchema]),
    ),
  },
  errors: ['invalid_request', 'malformed_id', 'session_not_found', 'events_gone', 'storage_failed'],
}

export const describeInboxEvents: RouteDescription = {
  tag: feedTag,
  description:
    'The feed, and of it only what waits for a person. Go on from the `cursor` of `GET /inbox`: nothing is missed, nothing comes twice.',
  query: { after },
  headers,
  responses: {
    200: stream(
      'The items of the inbox that are new or have a new status.',
      z.union([FeedItemSchema, FeedCursorSchema, FeedErrorSchema]),
    ),
  },
  errors: ['malformed_id', 'events_gone', 'storage_failed'],
}
