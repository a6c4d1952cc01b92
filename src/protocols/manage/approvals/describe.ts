// What these routes take and answer, for the OpenAPI document.

import { z } from 'zod'
import { approvalStatuses } from '../../../domain/records/record.ts'
import { answer, page } from '../../../http/describe-answer.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { DecisionSchema, EditSchema, RevealSchema } from './decision-schema.ts'
import { ApprovalSchema, EditCheckSchema, GrantSchema, RevealedSchema, ShownApprovalSchema } from './schema.ts'

const tag = 'Approvals'
const params = { id: z.string().describe('Id of the approval: a UUID or a ULID.') }

export const describeList: RouteDescription = {
  tag,
  description: 'Newest first. An operator sees all approvals, others see those of their own sessions.',
  query: {
    status: z
      .enum([...approvalStatuses, 'all'])
      .optional()
      .describe('Default: `pending`.'),
    session_id: z.string().optional(),
    limit: z.coerce.number().int().min(1).max(100).optional().describe('Default: 50.'),
    before: z.string().optional().describe('`approval_id` of the last approval of the previous page.'),
  },
  responses: { 200: page('approvals', ApprovalSchema, 'A page of approvals.') },
  errors: ['invalid_request', 'session_not_found', 'malformed_id', 'storage_failed'],
}

export const describeShow: RouteDescription = {
  tag,
  params,
  description:
    '`shown` is what a person has to see before they decide: never cut without saying so, and with secrets masked. The console gets secrets masked in `arguments` too.',
  query: {
    include: z
      .string()
      .regex(/^(content|all)(,(content|all))*$/)
      .optional()
      .describe(
        '`content`: also the whole text after a change. `all`: `shown` cuts nothing; otherwise each value ends after 200,000 bytes.',
      ),
  },
  responses: { 200: answer('The approval, with the diff of a change.', ShownApprovalSchema) },
  errors: ['invalid_request', 'approval_not_found', 'storage_failed'],
}

export const describeDecide: RouteDescription = {
  tag,
  description:
    'The first answer counts. A later answer is refused and told who decided what and when. An approved call runs at most once. The run continues by itself as `continuation_run_id`.',
  params,
  body: {
    schema: DecisionSchema,
    examples: {
      approve: { decision: 'approve' },
      'with what was on the screen': {
        decision: 'approve',
        digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        looked_at: { whole: false, not_seen: [{ name: 'body', shown: 200_000, total: 1_200_000 }] },
      },
      reject: { decision: 'reject', reason: 'Not on a Friday.' },
      'with other arguments': { decision: 'approve', arguments: { to: 'eve@example.com' } },
      'a result in its place': { decision: 'respond', result: 'Bob has it already.' },
      'the answer to a question': { decision: 'respond', result: { size: 'L' } },
      'a change, edited': { decision: 'approve', content: 'export const limit = 20\n' },
      'a change, over a changed file': { decision: 'approve', force: true },
      'refuse such calls': { decision: 'reject', remember: 'session' },
      'and remember': {
        decision: 'approve',
        remember: 'session',
        grant: { where: { to: '*@example.com' }, seconds: 900 },
      },
    },
  },
  responses: {
    200: answer('The decided approval.', ApprovalSchema, {
      status: 'approved',
      continuation_run_id: '0192f3a1-7b2c-7def-8abc-0123456789b0',
      decided_at: '2026-11-15T09:01:00.000Z',
      decided_by: 'operator',
    }),
  },
  errors: [
    'invalid_request',
    'forbidden',
    'conflict',
    'invalid_diff',
    'path_violation',
    'patch_conflict',
    'file_too_large',
    'passphrase_required',
    'passphrase_wrong',
    'passkey_required',
    'approval_not_found',
    'approval_expired',
    'approval_decided',
    'approval_changed',
    'tool_unavailable',
    'shutting_down',
    'storage_full',
    'storage_failed',
  ],
}

export const describeCheck: RouteDescription = {
  tag,
  description:
    'Checks an edit and shows what would run. It decides nothing and keeps nothing. For those who may decide.',
  params,
  body: {
    schema: EditSchema,
    examples: {
      'of arguments': { arguments: { to: 'eve@example.com', api_key: '[masked]' } },
      'of a file': { content: 'export const limit = 20\n' },
    },
  },
  responses: { 200: answer('What would come of it.', EditCheckSchema) },
  errors: [
    'invalid_request',
    'forbidden',
    'approval_not_found',
    'approval_expired',
    'approval_decided',
    'approval_changed',
    'session_not_found',
    'storage_failed',
  ],
}

export const describeReveal: RouteDescription = {
  tag,
  description:
    'The value of one argument without masks. The audit trail has who looked, each time. For those who may decide.',
  params,
  body: { schema: RevealSchema, examples: { 'an argument': { name: 'api_key' } } },
  responses: { 200: answer('The value, with hidden characters marked.', RevealedSchema) },
  errors: ['invalid_request', 'forbidden', 'approval_not_found', 'storage_full', 'storage_failed'],
}

export const describeGrants: RouteDescription = {
  tag,
  description: 'Calls that are allowed or refused without asking, because an operator or owner said so.',
  query: { agent: z.string().optional(), session_id: z.string().optional() },
  responses: {
    200: answer('The grants that have not expired, oldest first.', z.strictObject({ grants: z.array(GrantSchema) })),
  },
  errors: ['malformed_id', 'storage_failed'],
}

export const describeRevoke: RouteDescription = {
  tag,
  description: 'The next such call asks again.',
  params: { id: z.string().describe('Id of the grant.') },
  responses: { 204: { description: 'The grant is revoked.' } },
  errors: ['grant_not_found', 'storage_full', 'storage_failed'],
}
