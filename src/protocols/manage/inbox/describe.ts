// What the inbox takes and answers, for the document.

import { z } from 'zod'
import type { RouteDescription } from '../../../http/route-description.ts'
import { exampleApproval } from '../approvals/describe.ts'
import { ApprovalSchema } from '../approvals/schema.ts'
import { feedTag } from '../events/describe.ts'

export const InboxSchema = z.strictObject({
  items: z.array(
    z
      .strictObject({
        id: z.string(),
        kind: z.literal('approval'),
        session_id: z.string(),
        owner: z.string(),
        agent: z.string(),
        created_at: z.iso.datetime(),
        expires_at: z.iso.datetime().nullable(),
        approval: ApprovalSchema.describe('Answer it with `POST /approvals/{id}`.'),
      })
      .meta({ id: 'InboxItem' }),
  ),
  cursor: z.string().describe('Send it to `GET /inbox/events` as `after`: that stream goes on where this list ends.'),
})

const { session_id, agent, created_at, expires_at } = exampleApproval

export const describeInbox: RouteDescription = {
  tag: feedTag,
  description: 'Everything that waits for a person, in all sessions. Newest first.',
  query: {
    limit: z.coerce.number().int().min(1).max(100).optional().describe('50 when left out.'),
    before: z.string().optional().describe('Where the page before ended; comes in the Link header.'),
  },
  responses: {
    200: {
      description: 'What waits.',
      headers: { Link: 'The next page, if there is one.' },
      content: {
        'application/json': {
          schema: InboxSchema,
          example: {
            items: [
              {
                id: exampleApproval.approval_id,
                kind: 'approval',
                session_id,
                owner: 'ada',
                agent,
                created_at,
                expires_at,
                approval: exampleApproval,
              },
            ],
            cursor: 'f.12',
          },
        },
      },
    },
  },
  errors: ['invalid_request', 'storage_failed'],
}
