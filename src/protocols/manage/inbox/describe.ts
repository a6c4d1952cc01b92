// What the inbox takes and answers, for the document.

import { z } from 'zod'
import type { RouteDescription } from '../../../http/route-description.ts'
import { exampleApproval } from '../approvals/describe.ts'
import { ApprovalSchema } from '../approvals/schema.ts'
import { feedTag } from '../events/describe.ts'
import { examplePrompt } from '../supervision/describe-records.ts'
import { AlertSchema, PromptSchema, WaitSchema } from '../supervision/schema.ts'

const shared = {
  id: z.string(),
  session_id: z.string(),
  owner: z.string(),
  agent: z.string().describe('The agent, or the host of an agent elsewhere.'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
}

export const inboxKinds = ['approval', 'prompt', 'wait', 'alert'] as const

export const InboxSchema = z.strictObject({
  items: z.array(
    z
      .discriminatedUnion('kind', [
        z.strictObject({
          ...shared,
          kind: z.literal('approval'),
          approval: ApprovalSchema.describe('Answer it with `POST /approvals/{id}`.'),
        }),
        z.strictObject({
          ...shared,
          kind: z.literal('prompt'),
          prompt: PromptSchema.describe('Answer it with `POST /prompts/{id}`.'),
        }),
        z.strictObject({
          ...shared,
          kind: z.literal('wait'),
          wait: WaitSchema.describe('Answer it with `POST /waits/{id}`.'),
        }),
        z.strictObject({
          ...shared,
          kind: z.literal('alert'),
          alert: AlertSchema.describe('Answer it with `POST /alerts/{id}/nudge`, `dismiss` or `stop`.'),
        }),
      ])
      .meta({ id: 'InboxItem' }),
  ),
  cursor: z.string().describe('Send it to `GET /inbox/events` as `after`: that stream goes on where this list ends.'),
})

const { session_id, agent, created_at, expires_at } = exampleApproval

export const describeInbox: RouteDescription = {
  tag: feedTag,
  description: 'Everything that waits for a person, in all sessions. Newest first.',
  query: {
    kind: z.enum(inboxKinds).optional(),
    owner: z.string().optional().describe('Only in sessions of this owner.'),
    session: z.string().optional().describe('Only in this session: a UUID or a ULID.'),
    risk: z.enum(['low', 'high', 'critical']).optional().describe('Only approvals of this risk.'),
    age: z.coerce.number().int().min(0).optional().describe('Only what has waited for at least this many seconds.'),
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
                id: examplePrompt.prompt_id,
                kind: 'prompt',
                session_id: examplePrompt.session_id,
                owner: examplePrompt.owner,
                agent: examplePrompt.host,
                created_at: examplePrompt.created_at,
                expires_at: examplePrompt.expires_at,
                prompt: examplePrompt,
              },
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
