// The records of an archived session. A kind or a field that is missing here does not compile.

import { z } from 'zod'
import { risks } from '../../../domain/agent/tool-settings.ts'
import { type AnyRecord, promptTypes, type RecordOf } from '../../../domain/records/record.ts'
import {
  type ApprovalKind,
  allKinds,
  type RecordKind,
  recordKinds,
  statusesOf,
} from '../../../domain/records/record-kinds.ts'
import { count, time, uuid, whole } from './archive-shape.ts'
import { progress } from './archived-supervision.ts'

const text = z.string().nullable()

/** What every record has. */
const head = <Kind extends RecordKind>(kind: Kind) => ({
  id: uuid,
  sessionId: uuid,
  owner: z.string().min(1),
  agent: z.string().min(1),
  runId: uuid,
  callId: z.string(),
  tool: z.string().min(1),
  arguments: z.string(),
  lane: text,
  createdAt: time,
  expiresAt: time.nullable(),
  continuationRunId: uuid.nullable(),
  wait: z.literal(kind),
  status: z.enum(statusesOf(kind)),
})

const decided = {
  messageRefs: z.record(z.string(), z.string()),
  decidedAt: time.nullable(),
  decidedBy: text,
  decidedVia: text,
  reason: text,
  escalatedTo: z.array(z.string()).exactOptional(),
}

const askedElsewhere = {
  host: z.string(),
  contentKey: z.string(),
  returnedAt: time.nullable(),
  leftAt: time.exactOptional(),
}

type OfApproval = NonNullable<RecordOf<'approval'>['supervised']>
const approvalElsewhere: z.ZodType<OfApproval> = whole<OfApproval>()({
  ...askedElsewhere,
  change: z
    .strictObject({
      path: z.string(),
      kind: z.enum(['create', 'modify', 'delete']),
      addedLines: count,
      removedLines: count,
      warnings: z.array(z.string()),
      protectedBecause: text,
      hasHiddenText: z.boolean(),
    })
    .nullable(),
  mayForce: z.boolean(),
  isEdited: z.boolean(),
  appliedAt: time.nullable(),
  notApplied: z.string().exactOptional(),
  refused: z.string().exactOptional(),
})

const kinds: { [Kind in RecordKind]: z.ZodType<RecordOf<Kind>> } = {
  approval: whole<RecordOf<'approval'>>()({
    ...head('approval'),
    kind: z.enum(Object.keys(recordKinds.approval.actions) as ApprovalKind[]),
    title: z.string(),
    description: z.string(),
    action: text,
    preview: z.string().exactOptional(),
    question: z
      .strictObject({
        index: count,
        effect: z.enum(['read', 'idempotent', 'once']),
        message: z.string(),
        schema: z.record(z.string(), z.unknown()),
        state: z.string().exactOptional(),
        held: z.literal(true).exactOptional(),
      })
      .exactOptional(),
    response: z.string().exactOptional(),
    risk: z.enum(risks),
    digest: z.string().min(1),
    policyVersion: z.string(),
    answerableBy: z.enum(['owner', 'operator']),
    quorum: z.number().int().positive().exactOptional(),
    decisions: z
      .array(z.strictObject({ by: z.string(), via: z.string(), at: time, force: z.boolean().exactOptional() }))
      .exactOptional(),
    beforeHash: text,
    afterHash: text,
    ...decided,
    editedArguments: text,
    consumedAt: time.nullable(),
    supervised: approvalElsewhere.exactOptional(),
  }),
  client_call: whole<RecordOf<'client_call'>>()({
    ...head('client_call'),
    onExpiry: z.enum(['continue', 'complete']),
    answeredAt: time.nullable(),
  }),
  prompt: whole<RecordOf<'prompt'>>()({
    ...head('prompt'),
    ...decided,
    supervised: z.strictObject(askedElsewhere),
    promptText: z.string(),
    promptType: z.enum(promptTypes),
    elapsedSeconds: z.number().nullable(),
    actionsTaken: z.number().nullable(),
    decision: z.enum(['continue', 'refine', 'stop']).nullable(),
    instruction: text,
  }),
  standby: whole<RecordOf<'standby'>>()({
    ...head('standby'),
    ...decided,
    supervised: z.strictObject(askedElsewhere),
    message: z.string(),
    timeoutSeconds: z.number(),
    instruction: text,
  }),
  alert: whole<RecordOf<'alert'>>()({
    ...head('alert'),
    ...decided,
    // An alert is about no call.
    tool: z.string(),
    supervised: z.strictObject({ host: z.string() }),
    lastTool: text,
    lastActivityAt: time,
    idleSeconds: z.number(),
    nudgeCount: count,
    nudgeMessage: text,
    lastNudgeAt: time.nullable(),
    nudgedBy: text,
    progressSnapshot: progress,
  }),
}

export const archivedRecord: z.ZodType<AnyRecord> = z.union(allKinds.map((kind) => kinds[kind]))
