// What the routes of approvals answer.

import { z } from 'zod'
import { approvalStatuses } from '../../../domain/records/record.ts'
import { exampleApprovalView, RecordViewSchema } from '../records/schema.ts'

const time = z.iso.datetime()

export const ShownArgumentSchema = z.strictObject({
  name: z.string().describe('With marks, as in `text`.'),
  text: z
    .string()
    .describe(
      'Everything, with every hidden character marked, as `<U+202E>`, and with secrets masked. Line breaks stay.',
    ),
  json: z.boolean().describe('The value is no text: `text` is its JSON over several lines.'),
  secret: z.boolean().describe('Something in it is masked. `POST /approvals/{id}/reveal` shows it.'),
  hidden: z.int().min(0).describe('How many hidden characters it has.'),
  bytes: z.int().min(0).describe('Size of the whole text, without marks.'),
  cut: z
    .strictObject({ shown_bytes: z.int().min(0), sha256: z.string() })
    .nullable()
    .describe('Set if `text` is only the beginning. The hash is of the whole text, without marks.'),
})
export type ShownArgument = z.output<typeof ShownArgumentSchema>

const exampleShown = {
  arguments: [
    { name: 'to', text: 'bob@example.com', json: false, secret: false, hidden: 0, bytes: 15, cut: null },
    { name: 'api_key', text: '[masked]', json: false, secret: true, hidden: 0, bytes: 8, cut: null },
  ],
  warnings: [],
}

export const ShownCallSchema = z
  .strictObject({
    arguments: z.array(ShownArgumentSchema),
    warnings: z.array(z.string()).describe('What a person may overlook. One sentence each.'),
  })
  .meta({ id: 'ShownCall', example: exampleShown })
/** Everything that would run, with secrets masked and every hidden character marked. */
export type ShownCall = z.output<typeof ShownCallSchema>

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

export const nobodyWaits = time
  .nullable()
  .describe(
    'Since when no call of the agent waits for the answer: it was cancelled, or its program has ended. Null: one waits, or the agent was told to ask again.',
  )

export const exampleApproval = {
  approval_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  status: 'pending',
  kind: 'tool_call',
  title: 'send_email: POST https://mail.example.com/send',
  description: 'to: bob@example.com',
  action: 'POST https://mail.example.com/send',
  preview: null,
  question: null,
  response: null,
  risk: 'high',
  tool: 'send_email',
  arguments: { to: 'bob@example.com' },
  edited_arguments: null,
  agent: 'assistant',
  session_id: '0192f3a1-7b2c-7def-8abc-0123456789ac',
  run_id: '0192f3a1-7b2c-7def-8abc-0123456789ad',
  continuation_run_id: null,
  tool_call_id: 'call_0192f3a1-7b2c-7def-8abc-0123456789ae',
  answerable_by: 'operator',
  digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  policy_version:
    '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752-9b74c9897bac770ffc029102a200c5de4f8f26f66e6e8a1c2c3a7c9a0a0b6d11',
  before_hash: null,
  after_hash: null,
  created_at: '2026-11-15T09:00:00.000Z',
  expires_at: '2026-11-15T10:00:00.000Z',
  decided_at: null,
  decided_by: null,
  decided_channel: null,
  nobody_waits_since: null,
  reason: null,
  consumed_at: null,
  host: null,
  change: null,
  edited: false,
  quorum: 1,
  decisions: [],
  view: exampleApprovalView,
}

export const ApprovalSchema = z
  .strictObject({
    approval_id: z.string(),
    status: z.enum(approvalStatuses),
    kind: z
      .enum(['tool_call', 'question', 'diff', 'permission', 'policy'])
      .describe('`question`: the call has begun, and its tool asks a person something. Answer with `respond`.'),
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
    preview: z
      .string()
      .nullable()
      .describe('What the tool itself shows: a text or a diff, with marks as in the title.'),
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
    digest: z
      .string()
      .describe('SHA-256 of the call, its arguments, the approval rules and the definition of the tool.'),
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
    view: RecordViewSchema,
  })
  .meta({ id: 'Approval', example: exampleApproval })
/** A tool call that waits or waited for a person, or a question that its tool asks. Times are ISO 8601. */
export type Approval = z.output<typeof ApprovalSchema>

export const EditCheckSchema = z
  .strictObject({
    ok: z.boolean().describe('The edit can be approved.'),
    problems: z.array(z.string()).describe('Why it cannot be.'),
    risk: z.enum(['low', 'high', 'critical']).describe('Of what would run.'),
    shown: ShownCallSchema.describe('What would run.'),
    changes: z
      .array(z.strictObject({ name: z.string(), before: z.string().nullable(), after: z.string().nullable() }))
      .describe('The arguments that differ, as they are shown. Null: there is none of this name.'),
    preview: z.string().nullable().describe('What the tool itself shows about the edit.'),
    change: z
      .strictObject({
        digest: z.string().describe('The digest that the approval would have.'),
        added_lines: z.int().min(0),
        removed_lines: z.int().min(0),
        shown_diff: z.string().describe('From the file to the edit, with marks.'),
        edit_diff: z
          .string()
          .describe('From what the agent proposed to the edit, with marks. Empty: they are the same.'),
      })
      .nullable()
      .describe('With `content`.'),
  })
  .meta({
    id: 'EditCheck',
    example: {
      ok: true,
      problems: [],
      risk: 'high',
      shown: exampleShown,
      changes: [{ name: 'to', before: 'bob@example.com', after: 'eve@example.com' }],
      preview: null,
      change: null,
    },
  })
/** What would come of an edit. */
export type EditCheck = z.output<typeof EditCheckSchema>

/** A diff may be large, so lists do without it. */
export const ShownApprovalSchema = ApprovalSchema.extend({
  diff: z.string().exactOptional().describe('With the kinds `diff` and `policy`: the exact text of the change.'),
  shown_diff: z
    .string()
    .exactOptional()
    .describe('The same for people: every hidden character is marked, as `<U+202E>`.'),
  edit_diff: z
    .string()
    .nullable()
    .exactOptional()
    .describe('From what the agent proposed to what an operator made of it, with marks. Null: nobody edited it.'),
  shown: ShownCallSchema.describe('What would run, for the person who decides.'),
  content: z
    .string()
    .nullable()
    .exactOptional()
    .describe('With `include=content`: the whole text after the change. Null: the change deletes the file.'),
}).meta({ id: 'ShownApproval', example: { ...exampleApproval, shown: exampleShown } })
/** One approval, with the diff of a change. */
export type ShownApproval = z.output<typeof ShownApprovalSchema>

export const RevealedSchema = z
  .strictObject({ name: z.string(), text: z.string() })
  .meta({ example: { name: 'api_key', text: 'sk-0123' } })

export const GrantSchema = z
  .strictObject({
    grant_id: z.string(),
    agent: z.string(),
    tool: z.string(),
    effect: z.enum(['allow', 'refuse']),
    where: z.record(z.string(), z.unknown()),
    session_id: z.string().nullable(),
    granted_by: z.string(),
    approval_id: z.string(),
    created_at: time,
    expires_at: time.nullable(),
  })
  .meta({
    id: 'Grant',
    example: {
      grant_id: '0192f3a1-7b2c-7def-8abc-0123456789af',
      agent: 'assistant',
      tool: 'send_email',
      effect: 'allow',
      where: { to: { matches: '*@example.com' } },
      session_id: exampleApproval.session_id,
      granted_by: 'operator',
      approval_id: exampleApproval.approval_id,
      created_at: '2026-11-15T09:01:00.000Z',
      expires_at: '2026-11-15T09:16:00.000Z',
    },
  })
export type Grant = z.output<typeof GrantSchema>
