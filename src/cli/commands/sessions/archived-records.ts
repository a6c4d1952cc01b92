// The records of an archived session. A kind or a field that is missing here does not compile.

import { z } from 'zod'
import { risks } from '../../../domain/agent/tool-settings.ts'
import { parseUuid } from '../../../domain/ids.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import { type AnyRecord, promptTypes, type RecordOf } from '../../../domain/records/record.ts'
import {
  type ApprovalKind,
  allKinds,
  type RecordKind,
  recordKinds,
  statusesOf,
} from '../../../domain/records/record-kinds.ts'
import type { ContentPart, StoredMessage, ToolCall } from '../../../domain/session/message.ts'
import type { RunInput, RunRecord } from '../../../domain/session/run.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import {
  operationalModes,
  type ProgressItem,
  type Supervision,
  supervisedStatuses,
} from '../../../domain/supervision/supervision.ts'
import type { StoredEntry } from '../../../store/ports/journal.ts'
import { WorkMatchSchema } from '../../../supervision/records/record-view.ts'

export const uuid = z.string().refine((text) => parseUuid(text) === text, 'expected a UUID in lower case')
export const time = z.number().int().nonnegative()
export const count = z.number().int().nonnegative()

/** A record with every key that its type has, also the optional ones: an archive with a key that is not listed could not be read. */
export const whole =
  <T>() =>
  <Shape extends Record<keyof T, z.ZodType>>(shape: Shape): z.ZodObject<Shape, z.core.$strict> =>
    z.strictObject(shape)

const text = z.string().nullable()

export const progress: z.ZodType<ProgressItem[] | null> = z
  .array(z.strictObject({ label: z.string(), status: z.enum(['done', 'in_progress', 'pending']) }))
  .nullable()

const supervision: z.ZodType<Supervision> = whole<Supervision>()({
  status: z.enum(supervisedStatuses),
  version: count,
  host: z.string(),
  workspaceRoot: z.string().min(1),
  channelId: text,
  mode: z.enum(operationalModes),
  title: text,
  prompt: text,
  told: z.string().exactOptional(),
  said: z.string().exactOptional(),
  hosted: z
    .strictObject({ acpSession: z.string().nullable(), notes: z.array(z.string()).exactOptional() })
    .exactOptional(),
  updatedAt: time,
  terminatedAt: time.nullable(),
  lastTool: text,
  nudgeCount: count,
  silence: z.strictObject({ ms: z.number(), seenAt: time }).nullable(),
  stallPaused: z.boolean(),
  turnEnded: z.boolean().exactOptional(),
  stallsOff: z.boolean().exactOptional(),
  held: z.boolean().exactOptional(),
  takenUpAs: z.string().exactOptional(),
  progressSnapshot: progress,
  tokenId: z.string(),
  connectionId: text,
  mcp: z
    .array(
      z.strictObject({
        id: z.string(),
        tokenId: z.string(),
        initialize: z.record(z.string(), z.unknown()),
        listens: z.boolean().exactOptional(),
      }),
    )
    .exactOptional(),
  openRun: text,
  lastRun: text,
  continuesAlone: count,
  givenInstructions: z.array(z.string()),
  openNudge: text,
  restoredFrom: text,
  spawned: z.strictObject({ pid: z.number().int(), startedAt: z.number() }).nullable(),
  place: z.string().exactOptional(),
  crash: z.string().exactOptional(),
})

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

const change = z.strictObject({
  path: z.string(),
  kind: z.enum(['create', 'modify', 'delete']),
  addedLines: count,
  removedLines: count,
  warnings: z.array(z.string()),
  protectedBecause: text,
  hasHiddenText: z.boolean(),
})

type OfApproval = NonNullable<RecordOf<'approval'>['supervised']>
const approvalElsewhere: z.ZodType<OfApproval> = whole<OfApproval>()({
  ...askedElsewhere,
  run: z.literal(true).exactOptional(),
  unconfined: z.literal(true).exactOptional(),
  changes: z.array(change.extend({ risk: z.enum(risks), isBinary: z.boolean() })).exactOptional(),
  left: z.array(z.strictObject({ path: z.string(), why: z.string() })).exactOptional(),
  conflicts: z.array(z.string()).exactOptional(),
  change: change.nullable(),
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
    toolSays: z.string().exactOptional(),
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
    riskWhy: z.string().exactOptional(),
    matches: z.array(WorkMatchSchema).exactOptional(),
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
    signIn: z.strictObject({ server: z.string(), url: z.string(), why: z.string() }).exactOptional(),
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

const object = z.record(z.string(), z.unknown())

export const session: z.ZodType<SessionRecord> = whole<SessionRecord>()({
  id: uuid,
  owner: z.string().min(1),
  agent: z.string().min(1),
  activeAgent: z.string().min(1).nullable(),
  status: z.enum(['created', 'active', 'paused', 'terminated', 'interrupted']),
  createdAt: time,
  lastActivity: time,
  terminatedAt: time.nullable(),
  lastTool: z.string().nullable(),
  metadata: object,
  alias: z.string().nullable(),
  messageCount: count,
  // A session without shared state has no such key.
  state: z.unknown().optional(),
  unlisted: z.boolean(),
  label: z.string().exactOptional(),
  supervision: supervision.exactOptional(),
  lastRead: time.exactOptional(),
  title: z.string().exactOptional(),
  failure: z.string().exactOptional(),
}).transform(({ state, ...rest }) => ({ ...rest, state }))

export const run: z.ZodType<RunRecord> = whole<RunRecord>()({
  id: uuid,
  sessionId: uuid,
  owner: z.string().min(1),
  agent: z.string().min(1),
  wireId: z.string().min(1),
  parentRunId: z.string().nullable(),
  status: z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'interrupted']),
  origin: z.enum(['reader', 'background', 'recovery', 'answer']),
  input: z.custom<RunInput>(
    (value) =>
      isRecord(value) &&
      ['messages', 'instructions', 'context', 'clientTools'].every((key) => Array.isArray(value[key])),
    'expected the input of a run',
  ),
  createdAt: time,
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  usage: z.array(z.custom<RunRecord['usage'][number]>(isRecord, 'expected an object')),
  error: z.object({ code: z.string(), message: z.string(), isFinal: z.literal(true).exactOptional() }).nullable(),
  cancelRequested: z.boolean(),
  firstSeq: count.nullable(),
  lastSeq: count.nullable(),
  fence: count,
  leaseOwner: z.string().nullable(),
})

export const message: z.ZodType<StoredMessage> = whole<StoredMessage>()({
  id: z.string().min(1),
  role: z.enum(['user', 'assistant', 'tool', 'system', 'developer', 'reasoning', 'activity']),
  content: z.union([z.string(), z.array(z.custom<ContentPart>(isRecord, 'expected an object'))]),
  runId: z.string(),
  createdAt: time,
  toolCalls: z.array(z.custom<ToolCall>(isRecord, 'expected an object')).exactOptional(),
  toolCallId: z.string().exactOptional(),
  error: z.string().exactOptional(),
  agentName: z.string().exactOptional(),
  encryptedValue: z.string().exactOptional(),
  brokenOff: z.boolean().exactOptional(),
  activity: z.strictObject({ type: z.string(), content: object }).exactOptional(),
  lane: z.string().min(1).exactOptional(),
  supersededBy: z.string().exactOptional(),
  metadata: object.exactOptional(),
})

export const entry: z.ZodType<StoredEntry> = whole<StoredEntry>()({
  seq: z.number().int().positive(),
  runId: z.string().nullable(),
  kind: z.enum(['event', 'fact']),
  // The log is served as it is stored, one entry per line. Anything but a line of JSON would break every reader.
  data: z.string().refine((text) => !text.includes('\n') && isRecord(jsonIn(text)), 'expected one line of JSON'),
  spans: z.array(z.tuple([z.number().int().positive(), count])).exactOptional(),
})
