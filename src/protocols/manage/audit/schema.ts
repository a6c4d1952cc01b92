import { z } from 'zod'

const HASH = '5f7a1c0e9b3d48a2c6e1f0b79d2a4c8e5f7a1c0e9b3d48a2c6e1f0b79d2a4c8e'

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
  .meta({
    id: 'AuditEntry',
    example: {
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
    },
  })
/** Details and names have hidden characters marked. */
export type AuditEntry = z.output<typeof AuditEntrySchema>

export const AuditChainSchema = z
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
      .describe('The newest entry that names the heads of all chains. Null where one process owns the store.'),
  })
  .meta({
    id: 'AuditChain',
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
  })
export type AuditChain = z.output<typeof AuditChainSchema>
