// The lines of an archive beside its sessions: the bytes of files, records that belong to no session, the audit trail, and the end.

import { z } from 'zod'
import { risks } from '../../../domain/agent/tool-settings.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { type FileRecord, fileTypes } from '../../../domain/session/file.ts'
import { type Feedback, feedbackValues } from '../../../domain/session/message.ts'
import type { AuditEntry } from '../../../domain/supervision/audit.ts'
import type { ChannelNote } from '../../../domain/supervision/delivery.ts'
import type { Grant } from '../../../domain/supervision/grant.ts'
import {
  type Checkpoint,
  type Instruction,
  operationalModes,
  type PolicyPin,
  type Proposal,
  supervisedStatuses,
} from '../../../domain/supervision/supervision.ts'
import { notePlaces } from '../../../log/notes.ts'
import type { ImportRecords } from '../../../store/ports/sessions.ts'
import type { UsageRow } from '../../../store/ports/usage.ts'
import { WorkMatchSchema } from '../../../supervision/records/record-view.ts'
import { count, progress, time, uuid, whole } from './archived-records.ts'

/** Part of a file. The parts of a file follow each other. */
export interface BytesPart {
  sha256: string
  /** Of the whole file. */
  size: number
  /** 0, 1, 2, … */
  n: number
  data: Buffer
}

export const PART_BYTES = 256 * 1024

export const bytesLine = ({ data, ...part }: BytesPart): string =>
  JSON.stringify({ bytes: { ...part, data: data.toString('base64') } })

export const endLine = (sessions: number): string => JSON.stringify({ end: { sessions } })

const hash = z.string().regex(/^[0-9a-f]{64}$/, 'expected a hash')
const text = z.string().nullable()

export const file: z.ZodType<FileRecord> = whole<FileRecord>()({
  id: uuid,
  owner: z.string().min(1),
  sessionId: uuid.nullable(),
  name: z.string().min(1),
  mimeType: z.enum(fileTypes),
  bytes: count,
  sha256: hash,
  createdAt: time,
})

export const proposal: z.ZodType<Proposal> = z
  .strictObject({ approvalId: z.string().min(1), diff: z.string(), after: z.base64().nullable() })
  .transform(({ after, ...rest }) => ({ ...rest, after: after === null ? null : Buffer.from(after, 'base64') }))

export const instruction: z.ZodType<Instruction> = whole<Instruction>()({
  id: z.string().min(1),
  kind: z.enum(['steering', 'task']),
  sessionId: uuid.nullable(),
  owner: z.string().min(1),
  workspaceRoot: z.string().min(1),
  text: z.string(),
  source: z.string(),
  createdAt: time,
  deliveredAt: time.nullable(),
})

export const checkpoint: z.ZodType<Checkpoint> = whole<Checkpoint>()({
  id: z.string().min(1),
  sessionId: uuid,
  owner: z.string().min(1),
  label: text,
  workspaceRoot: z.string().min(1),
  manifest: hash,
  files: count,
  bytes: count,
  hasContents: z.boolean(),
  sessionState: z.strictObject({
    status: z.enum(supervisedStatuses),
    mode: z.enum(operationalModes),
    title: text,
    lastTool: text,
  }),
  progressSnapshot: progress,
  createdAt: time,
})

export const note: z.ZodType<ChannelNote> = whole<ChannelNote>()({
  channel: z.string().min(1),
  key: z.string(),
  session: uuid.nullable(),
  value: z.string(),
  at: time,
})

/** An archive brings nothing for a channel in this way. */
const kept = note.refine(({ channel }) => notePlaces.some((place) => place === channel), 'expected a known place')

export const feedback: z.ZodType<Feedback> = whole<Feedback>()({
  messageId: z.string().min(1),
  by: z.string(),
  value: z.enum(feedbackValues),
  note: z.string().nullable(),
  at: time,
})

const grant: z.ZodType<Grant> = whole<Grant>()({
  id: z.string().min(1),
  agent: z.string().min(1),
  tool: z.string().min(1),
  effect: z.literal('refuse').exactOptional(),
  where: z.custom<Grant['where']>(
    (value) => isRecord(value) && Object.values(value).every(isRecord),
    'expected conditions',
  ),
  sessionId: uuid.nullable(),
  grantedBy: z.string(),
  approvalId: z.string(),
  policyVersion: z.string(),
  createdAt: time,
  expiresAt: time.nullable(),
  elsewhere: z
    .strictObject({
      workspaceRoot: z.string().min(1),
      owner: z.string().min(1),
      match: WorkMatchSchema,
      risk: z.enum(risks),
    })
    .exactOptional(),
})

const pin: z.ZodType<PolicyPin> = whole<PolicyPin>()({
  workspaceRoot: z.string().min(1),
  sha256: z.string(),
  text: z.string(),
  at: time,
  by: z.string(),
})

const usage: z.ZodType<UsageRow> = whole<UsageRow>()({
  day: count,
  sessionId: z.string(),
  owner: z.string(),
  agent: z.string(),
  provider: z.string(),
  model: z.string(),
  runs: count,
  modelRuns: count,
  input: count,
  output: count,
  cachedInput: count,
  cacheWrite: count,
  reasoning: count,
  // Archives of 0.1 do not have these.
  failed: count.default(0),
  cancelled: count.default(0),
  took: z
    .string()
    .regex(/^[A-Za-z]*$/)
    .default(''),
})

export type ArchivedRecords = Omit<ImportRecords, 'type'>

export const hasTwice = (names: readonly string[]): boolean => new Set(names).size < names.length

const withoutDoubles = <T>(list: z.ZodType<T[]>, nameOf: (one: T) => string) =>
  list.refine((all) => !hasTwice(all.map(nameOf)), 'one is there twice')

export const recordsLine: z.ZodType<{ records: ArchivedRecords }> = z.strictObject({
  records: z.strictObject({
    grants: withoutDoubles(z.array(grant), ({ id }) => id).exactOptional(),
    instructions: withoutDoubles(z.array(instruction), ({ id }) => id).exactOptional(),
    pins: z.array(pin).exactOptional(),
    notes: withoutDoubles(z.array(kept), ({ channel, key }) => JSON.stringify([channel, key])).exactOptional(),
    usage: withoutDoubles(z.array(usage), ({ sessionId, day, owner, agent, provider, model }) =>
      JSON.stringify([sessionId, day, owner, agent, provider, model]),
    ).exactOptional(),
  }),
})

export const auditLine: z.ZodType<{ audit: AuditEntry[] }> = z.strictObject({
  audit: z.array(
    z.strictObject({
      chain: z.string().regex(/^[^\s:]{1,200}$/, 'expected the id of a chain'),
      n: z.number().int().positive(),
      text: z.string(),
      hash,
    }),
  ),
})

export const bytesPart: z.ZodType<{ bytes: BytesPart }> = z.strictObject({
  bytes: z
    .strictObject({ sha256: hash, size: count, n: count, data: z.base64() })
    .transform(({ data, ...rest }) => ({ ...rest, data: Buffer.from(data, 'base64') })),
})

export const end: z.ZodType<{ end: { sessions: number } }> = z.strictObject({
  end: z.strictObject({ sessions: count }),
})
