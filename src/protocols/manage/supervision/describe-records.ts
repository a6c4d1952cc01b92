// What the routes of prompts, waits and alerts take and answer, for the OpenAPI document.

import { z } from 'zod'
import type { ErrorCode } from '../../../domain/errors.ts'
import { answer, page } from '../../../http/describe-answer.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { NoBodySchema, NudgeSchema, PromptAnswerSchema, WaitAnswerSchema } from './command-schema.ts'
import { AlertSchema, alertStatuses, PromptSchema, promptStatuses, StandbySchema, waitStatuses } from './schema.ts'

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

const params = (what: string) => ({ id: z.string().describe(`Id of the ${what}: a UUID or a ULID.`) })

/** `?status=&session=&owner=&limit=&before=` of every list here. */
export const listQuery = {
  session: z.string().optional().describe('Only those of this session.'),
  owner: z.string().optional().describe('For operators: only those of this owner.'),
  limit: z.coerce.number().int().min(1).max(100).optional().describe('50 when left out.'),
  before: z.string().optional().describe('Where the page before ended; comes in the Link header.'),
}

function describeList(name: string, statuses: readonly [string, ...string[]], schema: z.ZodType): RouteDescription {
  const words = [...new Set(['waiting', ...statuses, 'all'])]
  return {
    tag: supervisionTag,
    description: 'Newest first. An operator sees all, others see those of their own sessions.',
    query: {
      status: z.enum(words).optional().describe('Default: `waiting`, what still wants something of a person.'),
      ...listQuery,
    },
    responses: { 200: page(name, schema) },
    errors: ['invalid_request', 'forbidden', 'storage_failed'],
  }
}

const describeShow = (what: string, schema: z.ZodType): RouteDescription => ({
  tag: supervisionTag,
  params: params(what),
  responses: { 200: answer(`The ${what}.`, schema) },
  errors: ['malformed_id', 'record_not_found', 'storage_failed'],
})

export const describePrompts = describeList('prompts', promptStatuses, PromptSchema)
export const describePrompt = describeShow('prompt', PromptSchema)
export const describeAnswerPrompt: RouteDescription = {
  tag: supervisionTag,
  description:
    'The agent gets the answer as the result of its call. The first answer counts; a later one is told who answered what and when. Only the owner of the session and admins may answer.',
  params: params('prompt'),
  body: {
    schema: PromptAnswerSchema,
    examples: {
      continue: { decision: 'continue' },
      refine: { decision: 'refine', instruction: 'Update the docs, but leave the changelog.' },
      stop: { decision: 'stop', reason: 'Enough for today.' },
    },
  },
  responses: {
    200: answer('The answered prompt.', PromptSchema, {
      ...decided,
      status: 'decided',
      decision: 'continue',
    }),
  },
  errors: answerErrors,
}

export const describeWaits = describeList('waits', waitStatuses, StandbySchema)
export const describeWait = describeShow('wait', StandbySchema)
export const describeAnswerWait: RouteDescription = {
  tag: supervisionTag,
  description: 'Wakes an agent that stands by. The first answer counts.',
  params: params('wait'),
  body: {
    schema: WaitAnswerSchema,
    examples: {
      instruct: { instruction: 'Now write the tests.' },
      'go on': {},
      stop: { stop: true },
    },
  },
  responses: {
    200: answer('The ended wait.', StandbySchema, {
      ...decided,
      status: 'resumed',
      instruction: 'Now write the tests.',
    }),
  },
  errors: answerErrors,
}

export const describeAlerts = describeList('alerts', alertStatuses, AlertSchema)
export const describeAlert = describeShow('alert', AlertSchema)
const nudged = {
  status: 'nudged',
  nudge_count: 1,
  nudge_message: 'Are you still there?',
  last_nudge_at: '2026-11-15T09:01:00.000Z',
  nudged_by: 'notification',
}
export const describeNudgeAlert: RouteDescription = {
  tag: supervisionTag,
  description:
    'Pushes a nudge through an open connection of the agent. If none is open, the nudge goes out with the result of its next call; `nudged_by` says which.',
  params: params('alert'),
  body: {
    schema: NudgeSchema,
    examples: { 'the usual text': {}, 'own words': { message: 'Skip the benchmark and go on.' } },
  },
  responses: { 200: answer('The alert.', AlertSchema, nudged) },
  errors: answerErrors,
}
const ended = { ...decided, status: 'dismissed' }
export const describeDismiss: RouteDescription = {
  tag: supervisionTag,
  description: 'The silence is fine. It counts anew from here.',
  params: params('alert'),
  body: { schema: NoBodySchema, examples: { dismiss: {} } },
  responses: { 200: answer('The dismissed alert.', AlertSchema, ended) },
  errors: answerErrors,
}
export const describeStopAlert: RouteDescription = {
  tag: supervisionTag,
  description: 'Terminates the session of the silent agent. What it asked is interrupted.',
  params: params('alert'),
  body: { schema: NoBodySchema, examples: { stop: {} } },
  responses: { 200: answer('The dismissed alert.', AlertSchema, ended) },
  errors: answerErrors,
}
