// What the routes of prompts, waits and alerts take and answer, for the OpenAPI document.

import { z } from 'zod'
import type { ErrorCode } from '../../../domain/errors.ts'
import { recordKinds, statusesOf, wireStatus } from '../../../domain/records/record-kinds.ts'
import { answer, page } from '../../../http/describe-answer.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import type { ShownKind } from '../../../supervision/records/records.ts'
import { viewedSchemas } from '../records/record-schemas.ts'
import { NoBodySchema, NudgeSchema, PromptAnswerSchema, WaitAnswerSchema } from './command-schema.ts'

export const supervisionTag = 'Supervision'
const decided = { decided_at: '2026-11-15T09:01:00.000Z', decided_by: 'ada', decided_channel: 'http' }

export const commandErrors: readonly ErrorCode[] = [
  'invalid_request',
  'malformed_id',
  'forbidden',
  'conflict',
  'session_not_found',
  'passphrase_required',
  'passphrase_wrong',
  'storage_full',
  'storage_failed',
]
const answerErrors: readonly ErrorCode[] = [...commandErrors, 'record_not_found', 'record_decided']

/** `?status=&session=&owner=&limit=&before=` of every list here. */
export const listQuery = {
  session: z.string().optional().describe('Only those of this session.'),
  owner: z.string().optional().describe('For operators: only those of this owner.'),
  limit: z.coerce.number().int().min(1).max(100).optional().describe('50 when left out.'),
  before: z.string().optional().describe('Where the page before ended; comes in the Link header.'),
}

/** `?status=` of a list, beside `waiting` and `all`. What is pending and has another word on the wire is asked for as `waiting`. */
export const statusFilter = (kind: ShownKind) =>
  statusesOf(kind).filter((status) => wireStatus(kind, status) === status)

export const describeList = (kind: ShownKind): RouteDescription => ({
  tag: supervisionTag,
  description: 'Newest first. An operator sees all, others see those of their own sessions.',
  query: {
    status: z
      .enum(['waiting', ...statusFilter(kind), 'all'])
      .optional()
      .describe('Default: `waiting`, what still wants something of a person.'),
    ...listQuery,
  },
  responses: { 200: page(recordKinds[kind].wire.path, viewedSchemas[kind]) },
  errors: ['invalid_request', 'forbidden', 'storage_failed'],
})

const params = (kind: ShownKind) => ({
  id: z.string().describe(`Id of the ${recordKinds[kind].wire.kind}: a UUID or a ULID.`),
})

export const describeShow = (kind: ShownKind): RouteDescription => ({
  tag: supervisionTag,
  params: params(kind),
  responses: { 200: answer(`The ${recordKinds[kind].wire.kind}.`, viewedSchemas[kind]) },
  errors: ['malformed_id', 'record_not_found', 'storage_failed'],
})

interface AnswerDescription extends Pick<RouteDescription, 'description' | 'body'> {
  /** What comes back: in words, and how it differs from the example of the record. */
  answers: [string, object]
}

export const describeAnswer = (
  kind: ShownKind,
  { answers: [words, differing], ...rest }: AnswerDescription,
): RouteDescription => ({
  tag: supervisionTag,
  params: params(kind),
  responses: { 200: answer(words, viewedSchemas[kind], differing) },
  errors: answerErrors,
  ...rest,
})

export const answerPrompt: AnswerDescription = {
  description:
    'The agent gets the answer as the result of its call. The first answer counts; a later one is told who answered what and when. Only the owner of the session and admins may answer.',
  body: {
    schema: PromptAnswerSchema,
    examples: {
      continue: { decision: 'continue' },
      refine: { decision: 'refine', instruction: 'Update the docs, but leave the changelog.' },
      stop: { decision: 'stop', reason: 'Enough for today.' },
    },
  },
  answers: ['The answered prompt.', { ...decided, status: 'decided', decision: 'continue' }],
}

export const answerStandby: AnswerDescription = {
  description: 'Wakes an agent that stands by. The first answer counts.',
  body: {
    schema: WaitAnswerSchema,
    examples: {
      instruct: { instruction: 'Now write the tests.' },
      'go on': {},
      stop: { stop: true },
    },
  },
  answers: ['The ended wait.', { ...decided, status: 'resumed', instruction: 'Now write the tests.' }],
}

const nudged = {
  status: 'nudged',
  nudge_count: 1,
  nudge_message: 'Are you still there?',
  last_nudge_at: '2026-11-15T09:01:00.000Z',
  nudged_by: 'notification',
}
export const nudgeAlert: AnswerDescription = {
  description:
    'Pushes a nudge through an open connection of the agent. If none is open, the nudge goes out with the result of its next call; `nudged_by` says which.',
  body: {
    schema: NudgeSchema,
    examples: { 'the usual text': {}, 'own words': { message: 'Skip the benchmark and go on.' } },
  },
  answers: ['The alert.', nudged],
}

const ended: AnswerDescription['answers'] = ['The dismissed alert.', { ...decided, status: 'dismissed' }]
export const dismissAlert: AnswerDescription = {
  description: 'The silence is fine. It counts anew from here.',
  body: { schema: NoBodySchema, examples: { dismiss: {} } },
  answers: ended,
}
export const stopAlert: AnswerDescription = {
  description: 'Terminates the session of the silent agent. What it asked is interrupted.',
  body: { schema: NoBodySchema, examples: { stop: {} } },
  answers: ended,
}
