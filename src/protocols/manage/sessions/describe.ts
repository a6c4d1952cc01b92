// What these routes take and answer, for the OpenAPI document.

import { z } from 'zod'
import { answer, page } from '../../../http/describe-answer.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { fileErrors, startErrors } from '../../shared/answer/error-lists.ts'
import { eventStream } from '../../shared/events/describe-events.ts'
import { startHeaderSchemas } from '../../shared/request/start-headers.ts'
import { NewMessageSchema } from './request-schema.ts'
import { AnsweredRunSchema, RunSchema, SentMessageSchema } from './schema.ts'

export const sessionTag = 'Sessions and runs'
const tag = sessionTag
const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
export const sessionParams = { id: z.string().describe('UUID, ULID, or the name that its client chose.') }
const run = { id: z.string().describe('Id of the run: UUID, ULID, or the id that its client chose.') }
const { 'Last-Event-ID': lastEventId, ...newRunHeaders } = startHeaderSchemas
const cursor = {
  query: { after: z.string().optional().describe('The `id:` of an event, or its number. Only later events are sent.') },
  headers: { 'Last-Event-ID': lastEventId.describe('Like `after`, and overrides it. An EventSource sends it.') },
}

export const describePost: RouteDescription = {
  tag,
  description: 'An unused name or well-formed id begins a session. The run does not need a reader.',
  params: sessionParams,
  headers: newRunHeaders,
  body: {
    schema: NewMessageSchema,
    examples: {
      text: { message: 'Where to in May?' },
      'to one agent': { message: 'Hello!', agent: 'assistant' },
      'with an uploaded file': { message: 'What does it say?', files: [{ file_id: id }] },
    },
  },
  responses: {
    202: {
      ...answer('The message is stored and its run accepted.', SentMessageSchema),
      headers: { Location: 'Address of the run.' },
    },
  },
  errors: [...startErrors, ...fileErrors],
}

export const describeSessionEvents: RouteDescription = {
  tag,
  description: 'The stream does not end: it continues with the events of later runs.',
  params: sessionParams,
  ...cursor,
  responses: { 200: eventStream('All events of the session, run after run.') },
  errors: ['malformed_id', 'session_not_found', 'events_gone', 'storage_failed'],
}

export const describeRemove: RouteDescription = {
  tag,
  description:
    'Stops the active run and deletes the session with everything in it. Deleting an unknown session succeeds too. A session in which an agent elsewhere works must be terminated first.',
  params: sessionParams,
  responses: { 204: { description: 'The session is deleted.' } },
  errors: ['malformed_id', 'conflict', 'storage_full', 'storage_failed'],
}

export const describeRun: RouteDescription = {
  tag,
  params: run,
  responses: { 200: answer('The run.', AnsweredRunSchema) },
  errors: ['malformed_id', 'run_not_found', 'storage_failed'],
}

export const describeRuns: RouteDescription = {
  tag,
  description: 'Without answers; see `GET /runs/{id}` for the answer of a run.',
  params: sessionParams,
  query: {
    limit: z.int().min(1).max(100).default(20),
    before: z
      .string()
      .optional()
      .describe('The `run_id` of the last run of the previous page; the Link header contains it.'),
  },
  responses: {
    200: {
      ...page('runs', RunSchema, 'A page of runs, newest first.'),
      headers: { Link: 'Older runs, as `rel="next"`; absent when there are none.' },
    },
  },
  errors: ['invalid_request', 'malformed_id', 'session_not_found', 'storage_failed'],
}

export const describeRunEvents: RouteDescription = {
  tag,
  params: run,
  ...cursor,
  responses: {
    200: eventStream('The events of the run, up to RUN_FINISHED or RUN_ERROR.'),
    204: { description: 'The run has no further events.' },
  },
  errors: ['malformed_id', 'run_not_found', 'session_not_found', 'events_gone', 'storage_failed'],
}

export const describeCancel: RouteDescription = {
  tag,
  description: 'May be repeated. A run that has ended stays as it is.',
  params: run,
  responses: { 200: answer('The run.', RunSchema) },
  errors: ['malformed_id', 'run_not_found', 'storage_full', 'storage_failed'],
}
