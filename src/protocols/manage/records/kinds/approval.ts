import { z } from 'zod'
import { isoTime } from '../../../../domain/clock.ts'
import { type Approval as ApprovalRecord, approvalStatuses } from '../../../../domain/records/record.ts'
import type { ActionName } from '../../../../domain/records/record-kinds.ts'
import { maskEntries } from '../../../../domain/text/secret-name.ts'
import { type Encoded, sameFields } from '../../../shared/same-fields.ts'
import {
  exampleOf,
  type KindOnWire,
  type Look,
  nobodyWaits,
  type Requests,
  sample,
  sinceWhenNobodyWaits,
} from '../kind-on-wire.ts'
import { RecordViewSchema } from '../schema.ts'

const time = z.iso.datetime()

export const ChangeSchema = z
  .strictObject({
    file_path: z.string().describe('Relative to the workspace.'),
    kind: z.enum(['create', 'modify', 'delete']),
    added_lines: z.int().min(0),
    removed_lines: z.int().min(0),
    warnings: z.array(z.string()),
    protected_because: z.string().nullable(),
    has_hidden_text: z.boolean(),
    may_force: z.boolean().describe('The decision allows to overwrite the file although it has changed meanwhile.'),
    applied_at: time.nullable().describe('When the file was written.'),
    not_applied: z.string().nullable().describe('Why it was not written after all.'),
  })
  .meta({ id: 'Change' })
/** What a change by an agent elsewhere does to one file. */
export type Change = z.output<typeof ChangeSchema>

const shape = {
  approval_id: z.string(),
  status: z.enum(approvalStatuses),
  kind: z
    .enum(['tool_call', 'question', 'diff', 'permission', 'changes', 'policy'])
    .describe(
      '`question`: the call has begun, and its tool asks a person something. Answer with `respond`. `changes`: all that a hosted agent has changed.',
    ),
  title: z.string().describe('For people, in one line: every hidden character is marked, as `<U+202E>`.'),
  description: z
    .string()
    .describe(
      'For people, with marks as in the title: the arguments of a call, or a question and what its answer may be.',
    ),
  action: z
    .string()
    .nullable()
    .describe('What the call will really do, in one line, with marks as in the title. null: not known.'),
  preview: z.string().nullable().describe('What the tool itself shows: a text or a diff, with marks as in the title.'),
  question: z
    .strictObject({ message: z.string(), schema: z.record(z.string(), z.unknown()) })
    .nullable()
    .describe(
      'Set for the kind `question`: exactly what the tool asked, without marks. To show it, use `description`.',
    ),
  response: z
    .unknown()
    .describe(
      "What a person gave: the answer to the question, or a text in the place of the tool's result. null: nothing.",
    ),
  risk: z.enum(['low', 'high', 'critical']),
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  edited_arguments: z.record(z.string(), z.unknown()).nullable(),
  agent: z.string(),
  session_id: z.string(),
  run_id: z.string().describe('The run that waits for the decision.'),
  continuation_run_id: z.string().nullable().describe('The run that continued after the decision.'),
  tool_call_id: z.string(),
  answerable_by: z.enum(['owner', 'operator']),
  digest: z.string().describe('SHA-256 of the call, its arguments, the approval rules and the definition of the tool.'),
  policy_version: z.string(),
  before_hash: z.string().nullable(),
  after_hash: z.string().nullable(),
  created_at: time,
  expires_at: time.nullable(),
  decided_at: time.nullable(),
  decided_by: z.string().nullable(),
  decided_channel: z.string().nullable().describe('The way the decision came: `http`, `ctl`, … Null: not known.'),
  reason: z.string().nullable(),
  consumed_at: time.nullable(),
  host: z.string().nullable().describe('The host of an agent elsewhere, if one asked.'),
  nobody_waits_since: nobodyWaits,
  change: ChangeSchema.nullable().describe('With the kind `diff`: what it does to which file.'),
  edited: z.boolean().describe('An operator has changed what the agent proposed.'),
  quorum: z.int().min(1).describe('How many people have to say yes. The first no closes.'),
  decisions: z
    .array(z.strictObject({ by: z.string(), at: time, channel: z.string() }))
    .describe('Where several people have to say yes: the yeses so far. Empty otherwise.'),
}

const same = sameFields<ApprovalRecord, typeof shape>(shape)
function encode(approval: ApprovalRecord, { isMasked = false }: Look = {}): Encoded<typeof shape> {
  const argumentsIn = (json: string): Record<string, unknown> =>
    isMasked ? maskEntries(JSON.parse(json)) : JSON.parse(json)
  const { question, editedArguments, supervised, decisions = [] } = approval
  return {
    ...same(approval),
    approval_id: approval.id,
    question: question === undefined ? null : { message: question.message, schema: question.schema },
    response: responseOf(approval),
    arguments: argumentsIn(approval.arguments),
    edited_arguments: editedArguments === null ? null : argumentsIn(editedArguments),
    tool_call_id: approval.callId,
    decided_channel: approval.decidedVia,
    host: supervised?.host ?? null,
    nobody_waits_since: sinceWhenNobodyWaits(approval),
    change: changeView(approval),
    edited: editedArguments !== null || supervised?.isEdited === true,
    quorum: approval.quorum ?? 1,
    decisions: decisions.map(({ by, via, at }) => ({ by, at: isoTime(at), channel: via })),
  }
}

/** Of a change by an agent elsewhere. */
function changeView({ supervised }: ApprovalRecord): Change | null {
  const change = supervised?.change ?? null
  if (supervised === undefined || change === null) return null
  return {
    file_path: change.path,
    kind: change.kind,
    added_lines: change.addedLines,
    removed_lines: change.removedLines,
    warnings: change.warnings,
    protected_because: change.protectedBecause,
    has_hidden_text: change.hasHiddenText,
    may_force: supervised.mayForce,
    applied_at: supervised.appliedAt === null ? null : isoTime(supervised.appliedAt),
    not_applied: supervised.notApplied ?? null,
  }
}

/** The answer to a question as a value. A result in a tool's place is a text. */
function responseOf({ kind, response }: ApprovalRecord): unknown {
  if (response === undefined) return null
  return kind === 'question' ? JSON.parse(response) : response
}

// The decision is bound to what is shown.
const request: Requests<'approval'> = ({ digest }, name) => ({
  body: { decision: DECISIONS[name] ?? 'approve', digest },
  text: 'reason',
})
const DECISIONS: Partial<Record<ActionName, string>> = { answer: 'respond', reject: 'reject' }

const sampleApproval: ApprovalRecord = {
  ...sample,
  wait: 'approval',
  expiresAt: Date.parse('2026-11-15T10:00:00.000Z'),
  kind: 'tool_call',
  title: 'send_email: POST https://mail.example.com/send',
  description: 'to: bob@example.com',
  action: 'POST https://mail.example.com/send',
  risk: 'high',
  tool: 'send_email',
  arguments: '{"to":"bob@example.com"}',
  answerableBy: 'operator',
  digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  policyVersion:
    '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752-9b74c9897bac770ffc029102a200c5de4f8f26f66e6e8a1c2c3a7c9a0a0b6d11',
  beforeHash: null,
  afterHash: null,
  editedArguments: null,
  consumedAt: null,
}
export const exampleApproval = exampleOf(sampleApproval, encode(sampleApproval), request, {
  folder: null,
  title: 'Write to Bob',
  prompt: null,
})

export const ApprovalSchema = z
  .strictObject({ ...shape, view: RecordViewSchema })
  .meta({ id: 'Approval', example: exampleApproval })
/** A tool call that waits or waited for a person, or a question that its tool asks. Times are ISO 8601. */
export type Approval = z.output<typeof ApprovalSchema>

export const approval = {
  shape,
  schema: ApprovalSchema,
  encode,
  request,
  routes: null,
} satisfies KindOnWire<'approval'>
