// What the routes of the audit trail take and answer, for the document.

import { z } from 'zod'
import { answer, page } from '../../../http/describe-answer.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { AuditChainSchema, AuditEntrySchema } from './schema.ts'

const tag = 'Audit'

export const describeAudit: RouteDescription = {
  tag,
  description:
    'The audit trail, newest first. Characters that people do not see are marked, as in `<U+202E>`. Reading it is put on record, once an hour. A page may have fewer entries than asked for, or none, while there are more: follow the Link header.',
  query: {
    kind: z.string().optional().describe('Only this kind.'),
    by: z.string().optional().describe('Only what this person did.'),
    session: z.string().optional().describe('Only about this session: a UUID or a ULID.'),
    since: z.string().optional().describe('Only at or after this time, ISO 8601.'),
    until: z.string().optional().describe('Only at or before this time, ISO 8601.'),
    limit: z.coerce.number().int().min(1).max(500).optional().describe('100 when left out.'),
    before: z.coerce
      .number()
      .int()
      .min(1)
      .optional()
      .describe('Only entries before this `seq`; comes in the Link header.'),
  },
  responses: {
    200: {
      ...page('entries', AuditEntrySchema, 'A page of entries.'),
      headers: { Link: 'Older entries, as `rel="next"`; absent when there are none.' },
    },
  },
  errors: ['invalid_request', 'storage_full', 'storage_failed'],
}

export const describeChain: RouteDescription = {
  tag,
  description:
    'Whether the audit trail is whole. The server checks it in the background, from the entry that it checked last. It cannot notice that the newest entries were cut off while it did not run: compare `head` with a copy that you keep elsewhere.',
  responses: { 200: answer('The state of the check.', AuditChainSchema) },
  errors: ['storage_failed'],
}
