// What these routes take and answer, for the OpenAPI document.

import { z } from 'zod'
import type { RouteDescription } from '../../http/route-description.ts'
import { runErrors, startErrors } from '../shared/answer/error-lists.ts'
import { startHeaderSchemas } from '../shared/request/start-headers.ts'
import {
  ThreadAnswerSchema,
  ThreadChatSchema,
  ThreadEventSchema,
  ThreadListSchema,
  ThreadSchema,
  ToolResultSchema,
  WaitingSchema,
} from './schema.ts'

const tag = 'Chat and threads'
const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const timestamp = '2026-11-15T09:00:02.125Z'
const created_at = '2026-11-15T09:00:00.000Z'
const question = {
  role: 'user',
  content: 'Hello!',
  timestamp: created_at,
  tool_calls: null,
  metadata: { page: 'start' },
}
const message = { role: 'assistant', content: 'Hello.', timestamp, tool_calls: null, metadata: { page: 'start' } }
const params = { id: z.string().describe('UUID, ULID, or the name that its client chose.') }
const knownErrors = ['malformed_id', 'session_not_found', 'session_expired'] as const

export const describePost: RouteDescription = {
  tag,
  description:
    'Sends a message. The answer is a stream of events (`data:` and `id:`, no `event:` line); the last event is `message_complete` or `error`. With `stream: false` the answer is one object. The client runs the tools of type `client` from the agent’s file: it answers each `tool_execution_request` at `POST /tool_result` while the stream stays open. Without `thread_id` a new thread begins. `metadata` is merged key by key into the metadata of the thread.',
  headers: startHeaderSchemas,
  body: {
    schema: ThreadChatSchema,
    examples: {
      first: { message: 'Hello!', stream: true },
      next: { message: 'And tomorrow?', thread_id: id, stream: false, metadata: { page: 'start' } },
    },
  },
  responses: {
    200: {
      description: 'The answer.',
      content: {
        'text/event-stream': {
          schema: ThreadEventSchema,
          example: { event: 'token', thread_id: id, timestamp, token: 'Hello' },
        },
        'application/json': { schema: ThreadAnswerSchema, example: { thread_id: id, message } },
      },
    },
    202: {
      description:
        'With `stream: false`: the run waits for a person, or for the client to run `tool_executions`. The thread has the rest of the answer.',
      content: {
        'application/json': {
          schema: WaitingSchema,
          example: { status: 'waiting', run_id: id, approval_ids: ['0192f3a1-7b2c-7def-8abc-0123456789ac'] },
        },
      },
    },
    204: { description: 'With `Last-Event-ID`: the run has no further events.' },
  },
  errors: [...startErrors, 'session_expired', ...runErrors],
}

export const describeList: RouteDescription = {
  tag,
  description: "The caller's threads, newest activity first.",
  query: {
    limit: z.int().min(1).max(1_000).default(100),
    before: z
      .string()
      .optional()
      .describe('The `thread_id` of the last thread of the previous page, or `before` from its Link header.'),
  },
  responses: {
    200: {
      description: 'A page of threads.',
      headers: { Link: 'The next page, as `rel="next"`; absent on the last one.' },
      content: {
        'application/json': {
          schema: ThreadListSchema,
          example: { threads: [{ thread_id: id, message_count: 2, created_at, updated_at: timestamp }] },
        },
      },
    },
  },
  errors: ['invalid_request'],
}

export const describeThread: RouteDescription = {
  tag,
  description: 'A thread and its newest messages, oldest first.',
  params,
  query: {
    limit: z.int().min(1).max(1_000).default(1_000),
    before: z.string().optional().describe('Only messages before this one; the Link header contains it.'),
  },
  responses: {
    200: {
      description: 'The thread.',
      headers: { Link: 'Older messages, as `rel="next"`; absent when there are none.' },
      content: {
        'application/json': {
          schema: ThreadSchema,
          example: {
            thread_id: id,
            created_at,
            updated_at: timestamp,
            message_history: [question, message],
            metadata: { page: 'start' },
          },
        },
      },
    },
  },
  errors: ['invalid_request', ...knownErrors],
}

export const describeRemove: RouteDescription = {
  tag,
  description: 'Stops the active run and deletes the thread with everything in it.',
  params,
  responses: { 204: { description: 'The thread is deleted.' } },
  errors: ['malformed_id', 'session_not_found'],
}

export const describeToolResult: RouteDescription = {
  tag,
  description:
    'The result of a `tool_execution_request`: either `result` (any JSON) or `error`; the other is left out or null. The stream that asked continues with it. The first answer counts. After the timeout of the tool it is too late.',
  body: {
    schema: ToolResultSchema,
    examples: {
      result: { execution_id: id, result: { degrees: 21 }, execution_time_ms: 120 },
      error: { execution_id: id, error: 'No such city.', execution_time_ms: 80 },
    },
  },
  responses: {
    200: {
      description: 'Received.',
      content: {
        'application/json': {
          schema: z.strictObject({ status: z.literal('received') }),
          example: { status: 'received' },
        },
      },
    },
  },
  errors: [
    'invalid_request',
    'malformed_json',
    'unsupported_media_type',
    'body_too_large',
    'request_timeout',
    'rate_limited',
    'tool_call_not_found',
    'tool_call_answered',
    'tool_call_expired',
    'storage_full',
    'storage_failed',
    'shutting_down',
  ],
}
