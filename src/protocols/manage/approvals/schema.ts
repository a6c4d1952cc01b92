import { z } from 'zod'
import { approvalStatuses } from '../../../domain/records/record.ts'
import { ViewSchema } from '../records/schema.ts'

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])

/** As in agent.yaml: a value, a list of values, a glob, or a comparison. */
const ConditionSchema: z.ZodType<Condition> = z.lazy(() =>
  z.union([
    scalar,
    z.array(scalar).min(1),
    z.strictObject({ equals: scalar }),
    z.strictObject({ one_of: z.array(scalar).min(1) }),
    z.strictObject({ matches: z.string() }),
    z.strictObject({ path: z.string() }),
    z.strictObject({ above: z.number() }),
    z.strictObject({ below: z.number() }),
    z.strictObject({ not: ConditionSchema }),
  ]),
)

type Scalar = string | number | boolean | null
export type Condition =
  | Scalar
  | Scalar[]
  | { equals: Scalar }
  | { one_of: Scalar[] }
  | { matches: string }
  | { path: string }
  | { above: number }
  | { below: number }
  | { not: Condition }

/** Ten years. */
const MAX_SECONDS = 315_360_000

export const DecisionSchema = z.strictObject({
  decision: z
    .enum(['approve', 'reject', 'respond'])
    .describe(
      "`respond`: gives a result in the tool's place, or the answer to a question. The tool does not run for it.",
    ),
  result: z
    .unknown()
    .optional()
    .describe('With `respond`: any JSON value. The answer to a question must fit its `schema`.'),
  digest: z
    .string()
    .max(200)
    .optional()
    .describe(
      '`digest` of the approval that was shown. If the call has changed since, the answer is `approval_changed`.',
    ),
  looked_at: z
    .strictObject({
      whole: z.boolean().describe('Everything was on the screen.'),
      not_seen: z
        .array(
          z.strictObject({
            name: z.string().max(10_000),
            shown: z.int().min(0).describe('Bytes.'),
            total: z.int().min(0).describe('Bytes.'),
          }),
        )
        .max(100)
        .optional()
        .describe('The values of which only a part was shown.'),
    })
    .optional()
    .describe('What the person had on their screen. It goes into the audit trail.'),
  reason: z.string().max(2_000).optional(),
  arguments: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Replace all arguments of the call. A secret that is left as `[masked]` stays what it is.'),
  force: z
    .boolean()
    .optional()
    .describe('With the kind `diff`: the change may overwrite the file although it has changed meanwhile.'),
  content: z
    .string()
    .max(5_000_000)
    .optional()
    .describe(
      'With the kind `diff`: the whole file as it should be. The answer is `approval_changed` with the new diff and its digest; approve that.',
    ),
  remember: z
    .enum(['session', 'always'])
    .optional()
    .describe(
      'Decide about similar calls in the same way from now on, allow or refuse: in this session (15 minutes), or in all sessions (until the grant is revoked).',
    ),
  grant: z
    .strictObject({
      where: z
        .record(z.string(), ConditionSchema)
        .optional()
        .describe('Which calls are similar, by argument. Default: all arguments are equal.'),
      seconds: z
        .number()
        .int()
        .positive()
        .max(MAX_SECONDS)
        .nullable()
        .optional()
        .describe('null: until the grant is revoked.'),
    })
    .optional()
    .describe('The scope of `remember`.'),
})

export const EditSchema = z.strictObject({
  arguments: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('In place of all arguments of the call. A secret that is left as `[masked]` stays what it is.'),
  content: z.string().max(5_000_000).optional().describe('With the kind `diff`: the whole file as it should be.'),
})

export const RevealSchema = z.strictObject({
  name: z.string().max(20_000).describe('Name of an argument, as `shown.arguments` has it.'),
})

const time = z.iso.datetime()

export const ShownSchema = z
  .strictObject({
    arguments: z.array(
      z.strictObject({
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
      }),
    ),
    warnings: z.array(z.string()).describe('What a person may overlook. One sentence each.'),
  })
  .meta({ id: 'ShownCall' })

const ChangeSchema = z
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

export const nobodyWaits = time
  .nullable()
  .describe(
    'Since when no call of the agent waits for the answer: it was cancelled, or its program has ended. Null: one waits, or the agent was told to ask again.',
  )

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
    view: ViewSchema,
  })
  .meta({ id: 'Approval' })

export const EditCheckSchema = z
  .strictObject({
    ok: z.boolean().describe('The edit can be approved.'),
    problems: z.array(z.string()).describe('Why it cannot be.'),
    risk: z.enum(['low', 'high', 'critical']).describe('Of what would run.'),
    shown: ShownSchema.describe('What would run.'),
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
  .meta({ id: 'EditCheck' })

/** A diff may be large, so lists do without it. */
export const ShownApprovalSchema = ApprovalSchema.extend({
  diff: z.string().optional().describe('With the kinds `diff` and `policy`: the exact text of the change.'),
  shown_diff: z.string().optional().describe('The same for people: every hidden character is marked, as `<U+202E>`.'),
  edit_diff: z
    .string()
    .nullable()
    .optional()
    .describe('From what the agent proposed to what an operator made of it, with marks. Null: nobody edited it.'),
  shown: ShownSchema.describe('What would run, for the person who decides.'),
  content: z
    .string()
    .nullable()
    .optional()
    .describe('With `include=content`: the whole text after the change. Null: the change deletes the file.'),
}).meta({ id: 'ShownApproval' })

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
  .meta({ id: 'Grant' })
