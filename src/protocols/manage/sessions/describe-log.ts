// What the log and the export of a session take and answer, for the OpenAPI document.

import { EventSchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import type { RouteDescription } from '../../../http/route-description.ts'
import { SessionRowShape } from '../../shared/request/session-row.ts'
import { ApprovalSchema, exampleApproval } from '../approvals/schema.ts'
import { exampleRun, RunSchema, sessionParams, sessionTag } from './describe.ts'

const LogSchema = z.strictObject({
  events: z.array(
    z.strictObject({
      id: z.string().describe('The id of the event, as in the streams.'),
      seq: z.int().min(1).describe('Its number in the session. There are gaps.'),
      at: z.iso.datetime().nullable(),
      event: EventSchema.meta({ id: 'AgUiEvent' }),
    }),
  ),
  first_seq: z.int().min(0).describe('Where the log of the session begins; 0 if it is empty.'),
  last_seq: z.int().min(0).describe('Where it ends now.'),
})

const place = 'The `id` or the `seq` of an event.'

export const describeLog: RouteDescription = {
  tag: sessionTag,
  description:
    'The events of the session in the order of the log: after a place, before a place, or from the beginning. A page ends at 4 MB, so it may have fewer events than asked for.',
  params: sessionParams,
  query: {
    after: z.string().optional().describe(`${place} Only later events.`),
    before: z.string().optional().describe(`${place} Only earlier events, the nearest ones.`),
    limit: z.int().min(1).max(1_000).default(200),
    structure: z
      .enum(['true', 'false'])
      .optional()
      .describe('`true` leaves out the pieces of texts, reasoning and arguments.'),
  },
  responses: {
    200: {
      description: 'A page of events.',
      headers: { Link: 'The next page in the same direction, as `rel="next"`; absent on the last one.' },
      content: {
        'application/json': {
          schema: LogSchema,
          example: {
            events: [
              {
                id: '01J9ZQ3V6K8R2T4Y7B5N0M1C3D.3',
                seq: 3,
                at: '2026-11-15T09:00:00.000Z',
                event: { type: 'STEP_STARTED', stepName: 'step_1', timestamp: 1794733200000 },
              },
            ],
            first_seq: 1,
            last_seq: 20,
          },
        },
      },
    },
  },
  errors: ['invalid_request', 'malformed_id', 'session_not_found', 'storage_failed'],
}

const MessageSchema = z.strictObject({
  message_id: z.string(),
  role: z.enum(['user', 'assistant', 'tool', 'system', 'developer', 'reasoning', 'activity']),
  content: z.string(),
  created_at: z.iso.datetime(),
  run_id: z.string(),
  agent_name: z.string().nullable(),
  tool_calls: z.array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.string() })),
  tool_call_id: z.string().nullable(),
  error: z.string().nullable(),
})

const time = '2026-11-15T09:00:00.000Z'

export const describeExport: RouteDescription = {
  tag: sessionTag,
  description:
    'One JSON document for people and programs: the session, its messages (oldest first), its runs and its approvals (newest first). Files are left out. To move sessions to another server, use `quarterdeck sessions export`.',
  params: sessionParams,
  responses: {
    200: {
      description: 'The session, as a download.',
      headers: { 'Content-Disposition': 'Names the file.' },
      content: {
        'application/json': {
          schema: z.strictObject({
            exported_at: z.iso.datetime(),
            session: z.strictObject({
              session_id: z.string(),
              created_at: z.iso.datetime(),
              message_count: z.int().min(0),
              ...SessionRowShape,
            }),
            messages: z.array(MessageSchema),
            runs: z.array(RunSchema),
            approvals: z.array(ApprovalSchema.omit({ view: true })),
          }),
          example: {
            exported_at: time,
            session: {
              session_id: 'holiday',
              created_at: time,
              message_count: 1,
              owner: 'local_user',
              agent: 'assistant',
              title: 'Where to in May?',
              kind: 'chat',
              status: 'open',
              updated_at: time,
              pending: 0,
              tokens: 30,
            },
            messages: [
              {
                message_id: 'm1',
                role: 'user',
                content: 'Where to in May?',
                created_at: time,
                run_id: exampleRun.run_id,
                agent_name: null,
                tool_calls: [],
                tool_call_id: null,
                error: null,
              },
            ],
            runs: [exampleRun],
            approvals: [exampleApproval],
          },
        },
      },
    },
  },
  errors: ['malformed_id', 'session_not_found', 'storage_failed'],
}
