// What the inbox takes and answers, for the document.

import { z } from 'zod'
import { wireKinds } from '../../../domain/records/record-kinds.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { feedTag } from '../events/describe.ts'
import { InboxSchema } from './schema.ts'

export const describeInbox: RouteDescription = {
  tag: feedTag,
  description:
    'Everything that waits for a person, in all sessions, or with `status=done` what nobody has to answer any more. Newest first, by the time at which it was asked.',
  query: {
    status: z.enum(['waiting', 'done']).optional().describe('`waiting` when left out.'),
    kind: z.enum(wireKinds).optional(),
    owner: z.string().optional().describe('Only in sessions of this owner.'),
    session: z.string().optional().describe('Only in this session: a UUID or a ULID.'),
    risk: z.enum(['low', 'high', 'critical']).optional().describe('Only approvals of this risk.'),
    age: z.coerce.number().int().min(0).optional().describe('Only what has waited for at least this many seconds.'),
    limit: z.coerce.number().int().min(1).max(100).optional().describe('50 when left out.'),
    before: z.string().optional().describe('Where the page before ended; comes in the Link header.'),
  },
  responses: {
    200: {
      ...answer('What waits, or what is done.', InboxSchema),
      headers: { Link: 'The next page, if there is one.' },
    },
  },
  errors: ['invalid_request', 'storage_failed'],
}
