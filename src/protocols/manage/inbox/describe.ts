// What the inbox takes and answers, for the document.

import { z } from 'zod'
import type { RouteDescription } from '../../../http/route-description.ts'
import { ApprovalSchema, exampleApproval } from '../approvals/schema.ts'
import { feedTag } from '../events/describe.ts'
import { examplePrompt } from '../supervision/describe-records.ts'
import { AlertSchema, PromptSchema, StandbySchema } from '../supervision/schema.ts'

const shared = {
  id: z.string(),
  session_id: z.string(),
  owner: z.string(),
  agent: z.string().describe('The agent, or the host of an agent elsewhere.'),
  title: z.string().describe('What it is about, in one line: every hidden character is marked, as `<U+202E>`.'),
  status: z.string().describe('As in its record.'),
  risk: z.enum(['low', 'high', 'critical']).nullable().describe('Of an approval.'),
  tool: z.string().nullable().describe('Of an approval.'),
  host: z.string().nullable().describe('The host of an agent elsewhere, if one asks.'),
  session_title: z.string().nullable(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  decided_at: z.iso.datetime().nullable(),
  decided_by: z.string().nullable(),
  decided_channel: z.string().nullable(),
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
          wait: StandbySchema.describe('Answer it with `POST /waits/{id}`.'),
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
  description:
    'Everything that waits for a person, in all sessions, or with `status=done` what nobody has to answer any more. Newest first, by the time at which it was asked.',
  query: {
    status: z.enum(['waiting', 'done']).optional().describe('`waiting` when left out.'),
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
      description: 'What waits, or what is done.',
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
                title: examplePrompt.prompt_text,
                status: examplePrompt.status,
                risk: null,
                tool: null,
                host: examplePrompt.host,
                session_title: 'Renew the shop',
                created_at: examplePrompt.created_at,
                expires_at: examplePrompt.expires_at,
                decided_at: examplePrompt.decided_at,
                decided_by: examplePrompt.decided_by,
                decided_channel: examplePrompt.decided_channel,
                prompt: examplePrompt,
              },
              {
                id: exampleApproval.approval_id,
                kind: 'approval',
                session_id,
                owner: 'ada',
                agent,
                title: exampleApproval.title,
                status: exampleApproval.status,
                risk: exampleApproval.risk,
                tool: exampleApproval.tool,
                host: null,
                session_title: 'Write to Bob',
                created_at,
                expires_at,
                decided_at: null,
                decided_by: null,
                decided_channel: null,
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
