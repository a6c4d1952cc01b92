// What the log and the export of a session take and answer, for the OpenAPI document.

import { z } from 'zod'
import { answer } from '../../../http/describe-answer.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { sessionParams, sessionTag } from './describe.ts'
import { LogSchema, SessionExportSchema } from './schema.ts'

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
      ...answer('A page of events.', LogSchema),
      headers: { Link: 'The next page in the same direction, as `rel="next"`; absent on the last one.' },
    },
  },
  errors: ['invalid_request', 'malformed_id', 'session_not_found', 'storage_failed'],
}

export const describeExport: RouteDescription = {
  tag: sessionTag,
  description:
    'One JSON document for people and programs: the session, its messages (oldest first), its runs and its approvals (newest first). Files are left out. To move sessions to another server, use `quarterdeck sessions export`.',
  params: sessionParams,
  responses: {
    200: {
      ...answer('The session, as a download.', SessionExportSchema),
      headers: { 'Content-Disposition': 'Names the file.' },
    },
  },
  errors: ['malformed_id', 'session_not_found', 'storage_failed'],
}
