// What these routes take and answer, for the OpenAPI document.

import { z } from 'zod'
import { sessionActivities, sessionKinds } from '../../domain/session-overview.ts'
import { answer } from '../../http/describe-answer.ts'
import type { RouteDescription } from '../../http/route-description.ts'
import { runErrors, startErrors } from '../shared/answer/error-lists.ts'
import { TimeSchema } from '../shared/request/session-row-schema.ts'
import { startHeaderSchemas } from '../shared/request/start-headers.ts'
import {
  ChatRequestSchema,
  ChatResponseSchema,
  SessionInfoSchema,
  SessionSchema,
  UserIdSchema,
  WaitingSchema,
} from './schema.ts'

const tag = 'Chat and sessions'
const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const before = z.string().optional()
const link = { Link: 'The next page, as `rel="next"`; absent on the last one.' }

export const describePost: RouteDescription = {
  tag,
  description:
    'Sends a message and waits for the answer. Without `session_id` a new session begins. `user_id` labels it; with the token of a user other than `local_user` it must be the name of that user.',
  headers: startHeaderSchemas,
  body: {
    schema: ChatRequestSchema,
    examples: {
      first: { message: 'Hello!' },
      next: { message: 'And tomorrow?', session_id: id, user_id: 'kim' },
    },
  },
  responses: {
    200: answer('The answer.', ChatResponseSchema),
    202: answer('The run waits for a person.', WaitingSchema),
  },
  errors: [...startErrors, 'session_expired', ...runErrors],
}

export const describeList: RouteDescription = {
  tag,
  description: 'The sessions of a user, newest activity first.',
  query: {
    user_id: UserIdSchema.optional(),
    owner: z
      .string()
      .optional()
      .describe('For operators: the sessions of this owner, or of all owners (`*`). The audit trail says who asked.'),
    agent: z.string().min(1).max(128).optional().describe('Only sessions of this agent.'),
    status: z.enum(sessionActivities).optional().describe('Only sessions that do this.'),
    kind: z.enum(sessionKinds).optional(),
    since: TimeSchema.optional().describe('Only sessions that were last active at or after this time.'),
    until: TimeSchema.optional().describe('Only sessions that were last active at or before this time.'),
    limit: z.int().min(1).max(100).default(10),
    before: before.describe(
      'The `session_id` of the last session of the page before, or the `before` of its Link header.',
    ),
  },
  responses: {
    200: {
      ...answer('A page of sessions.', z.array(SessionInfoSchema)),
      headers: link,
    },
  },
  errors: ['invalid_request', 'forbidden'],
}

export const describeSession: RouteDescription = {
  tag,
  description:
    'A session and its newest messages, oldest first: what the user and the agent said. With `include=tools` also the results of tools and the answers without a word that called them.',
  params: { id: z.string().describe('UUID, ULID, or the name its client gave it.') },
  query: {
    limit: z.int().min(1).max(1_000).default(1_000),
    include: z.enum(['tools']).optional().describe('Shows the work of tools, too.'),
    before: before.describe('Only messages before this one; comes in the Link header.'),
  },
  responses: {
    200: {
      ...answer('The session.', SessionSchema),
      headers: { Link: 'Older messages, as `rel="next"`; absent when there are none.' },
    },
  },
  errors: ['invalid_request', 'malformed_id', 'session_not_found', 'session_expired'],
}
