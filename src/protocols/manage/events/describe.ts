// What the streams of the feed take and answer, for the document.

import { EventSchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import type { ResponseDescription, RouteDescription } from '../../../http/route-description.ts'
import { MAX_SESSIONS } from './cursor.ts'

export const feedTag = 'Operators'

const subject = { session_id: z.string(), owner: z.string(), agent: z.string() }
const head = { type: z.literal('feed'), id: z.string(), at: z.iso.datetime() }

export const FeedItemSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({
      ...head,
      kind: z.literal('session'),
      ...subject,
      status: z.enum(['created', 'active', 'paused', 'interrupted', 'terminated']),
    }),
    z.strictObject({
      ...head,
      kind: z.literal('run'),
      run_id: z.string(),
      parent_run_id: z.string().nullable(),
      ...subject,
      status: z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'interrupted']),
    }),
    z.strictObject({
      ...head,
      kind: z.literal('approval'),
      approval_id: z.string(),
      risk: z.enum(['low', 'high', 'critical']),
      ...subject,
      status: z.enum(['pending', 'approved', 'rejected', 'expired', 'interrupted', 'consumed']),
    }),
    z.strictObject({
      ...head,
      kind: z.literal('prompt'),
      prompt_id: z.string(),
      risk: z.null(),
      ...subject,
      status: z.enum(['pending', 'decided', 'interrupted']),
    }),
    z.strictObject({
      ...head,
      kind: z.literal('wait'),
      wait_id: z.string(),
      risk: z.null(),
      ...subject,
      status: z.enum(['waiting', 'resumed', 'timeout', 'interrupted']),
    }),
    z.strictObject({
      ...head,
      kind: z.literal('alert'),
      alert_id: z.string(),
      risk: z.null(),
      ...subject,
      status: z.enum(['pending', 'nudged', 'self_recovered', 'escalated', 'dismissed']),
    }),
  ])
  .describe('A session, a run, an approval, a prompt, a wait or an alert that is new or has a new status.')
  .meta({ id: 'FeedItem' })

const EntrySchema = z
  .strictObject({
    type: z.literal('entry'),
    id: z.string().describe('The id of the event in its session.'),
    session_id: z.string(),
    event: EventSchema.meta({ id: 'AgUiEvent' }),
  })
  .describe('An event of a named session.')

const CursorSchema = z
  .strictObject({ type: z.literal('cursor') })
  .describe('Nothing happened. Its `id:` is where the stream stands; the first frame of every stream is one.')

const ErrorSchema = z
  .strictObject({ type: z.literal('error'), code: z.string(), message: z.string() })
  .describe('The stream ends. Connect again with the last id.')

const example = {
  type: 'feed',
  id: 'f.12',
  at: '2026-11-15T09:00:00.000Z',
  kind: 'run',
  run_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  parent_run_id: null,
  session_id: '0192f3a1-7b2c-7def-8abc-0123456789ac',
  owner: 'ada',
  agent: 'assistant',
  status: 'running',
}

const stream = (description: string, schema: z.ZodType): ResponseDescription => ({
  description,
  content: { 'text/event-stream': { schema, example } },
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
      z.union([FeedItemSchema, EntrySchema, CursorSchema, ErrorSchema]),
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
      z.union([FeedItemSchema, CursorSchema, ErrorSchema]),
    ),
  },
  errors: ['malformed_id', 'events_gone', 'storage_failed'],
}
