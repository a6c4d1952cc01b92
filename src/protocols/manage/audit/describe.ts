// What the routes of the audit trail take and answer, for the document.

import { z } from 'zod'
import type { RouteDescription } from '../../../http/route-description.ts'

const tag = 'Audit'

export const AuditEntrySchema = z
  .strictObject({
    seq: z
      .int()
      .min(1)
      .describe('Grows from entry to entry. 1, 2, 3, … without gaps where one process owns the store.'),
    at: z.iso.datetime().nullable(),
    kind: z
      .string()
      .describe('For example `decision`, `call_started`, `operator_read`. Empty if the entry is damaged.'),
    by: z.string(),
    session_id: z.string().nullable(),
    run_id: z.string().nullable(),
    agent: z.string(),
    tool: z.string(),
    call_id: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).describe('Facts that depend on the kind.'),
    hash: z.string().describe('SHA-256 over the stored text and the hash of the entry before it.'),
  })
  .meta({ id: 'AuditEntry' })

const HASH = '5f7a1c0e9b3d48a2c6e1f0b79d2a4c8e5f7a1c0e9b3d48a2c6e1f0b79d2a4c8e'

const example = {
  seq: 1203,
  at: '2026-11-15T09:00:00.000Z',
  kind: 'decision',
  by: 'ada',
  session_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  run_id: '0192f3a1-7b2c-7def-8abc-0123456789ac',
  agent: 'assistant',
  tool: 'pay',
  call_id: 'call_1',
  details: { approval: '0192f3a1-7b2c-7def-8abc-0123456789ad', decision: 'approve' },
  hash: HASH,
}

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
      description: 'A page of entries.',
      headers: { Link: 'Older entries, as `rel="next"`; absent when there are none.' },
      content: {
        'application/json': {
          schema: z.strictObject({ entries: z.array(AuditEntrySchema) }),
          example: { entries: [example] },
        },
      },
    },
  },
  errors: ['invalid_request', 'storage_full', 'storage_failed'],
}

export const describeChain: RouteDescription = {
  tag,
  description:
    'Whether the audit trail is whole. The server checks it in the background, from the entry that it checked last. It cannot notice that the newest entries were cut off while it did not run: compare `head` with a copy that you keep elsewhere.',
  responses: {
    200: {
      description: 'The state of the check.',
      content: {
        'application/json': {
          schema: z
            .strictObject({
              status: z.enum(['whole', 'broken', 'checking']),
              checked: z.int().min(0).describe('So many entries from the first one on are whole.'),
              entries: z.int().min(0),
              head: z
                .strictObject({ seq: z.int(), hash: z.string() })
                .nullable()
                .describe('The last entry. Null in an empty trail, and where the trail has several chains.'),
              broken_at: z.int().nullable().describe('The first entry of its chain that is wrong or missing.'),
              problem: z.string().nullable().describe('What is wrong, in a sentence.'),
              checked_at: z.iso.datetime().nullable(),
              chains: z
                .array(
                  z.strictObject({
                    chain: z.string(),
                    entries: z.int().min(1),
                    head: z.string().describe('Hash of the last entry.'),
                    is_whole: z.boolean().describe('Checked to its end, and nothing is wrong.'),
                  }),
                )
                .describe('Each process that shares the store writes a chain of its own.'),
              last_tie: z
                .strictObject({ chain: z.string(), seq: z.int(), hash: z.string(), at: z.iso.datetime() })
                .nullable()
                .describe(
                  'The newest entry that names the heads of all chains. Null where one process owns the store.',
                ),
            })
            .meta({ id: 'AuditChain' }),
          example: {
            status: 'whole',
            checked: 1203,
            entries: 1203,
            head: { seq: 1203, hash: HASH },
            broken_at: null,
            problem: null,
            checked_at: '2026-11-15T09:00:00.000Z',
            chains: [{ chain: 'main', entries: 1203, head: HASH, is_whole: true }],
            last_tie: null,
          },
        },
      },
    },
  },
  errors: ['storage_failed'],
}
