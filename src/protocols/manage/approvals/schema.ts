// What the routes of approvals answer.

import { z } from 'zod'
import { approvalStatuses } from '../../../domain/records/record.ts'
import { rememberScopes } from '../../../domain/supervision/decision.ts'
import { WorkMatchSchema } from '../../../supervision/records/record-view.ts'
import { ApprovalSchema, exampleApproval } from '../records/kinds/approval.ts'

const time = z.iso.datetime()

export const ShownArgumentSchema = z.strictObject({
  name: z.string().describe('With marks, as in `text`.'),
  text: z
    .string()
    .describe(
      'Everything, with every hidden character marked, as `<U+202E>`, and with secrets masked. Line breaks stay.',
    ),
  json: z.boolean().describe('The value is not a text: `text` is its JSON over several lines.'),
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

export const FileLinesSchema = z
  .strictObject({
    from: z.int().min(1).describe('Number of the first line in `lines`, in the file after the change.'),
    lines: z.array(z.string()).describe('With every hidden character marked, as in `shown_diff`.'),
    total_lines: z.int().min(0).describe('Of the whole file after the change.'),
    left_out: z
      .int()
      .min(0)
      .describe('Lines that were asked for and did not fit into 500,000 bytes. Ask again from there.'),
  })
  .meta({
    id: 'FileLines',
    example: { from: 12, lines: ['export const limit = 20', ''], total_lines: 140, left_out: 0 },
  })
/** Lines of a file that a change leaves as they are. */
export type FileLines = z.output<typeof FileLinesSchema>

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
    scope: z.enum(rememberScopes).describe('How long it lasts, and where: see `remember` of a decision.'),
    label: z.string().describe('What it covers, in words.'),
    match: WorkMatchSchema.nullable().describe('Of an agent elsewhere: what it covers. Null: `where` says it.'),
    workspace: z.string().nullable().describe('Of an agent elsewhere: the folder.'),
    owner: z.string().nullable().describe('Of an agent elsewhere: whose agents it is for.'),
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
      scope: 'session',
      label: 'Calls of send_email',
      match: null,
      workspace: null,
      owner: null,
      granted_by: 'operator',
      approval_id: exampleApproval.approval_id,
      created_at: '2026-11-15T09:01:00.000Z',
      expires_at: '2026-11-15T09:16:00.000Z',
    },
  })
export type Grant = z.output<typeof GrantSchema>

// What the routes of approvals take.

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
type Scalar = z.output<typeof scalar>

export const GrantConditionSchema: z.ZodType<Condition> = z.lazy(() =>
  z.union([
    scalar,
    z.array(scalar).min(1),
    z.strictObject({ equals: scalar }),
    z.strictObject({ one_of: z.array(scalar).min(1) }),
    z.strictObject({ matches: z.string() }),
    z.strictObject({ path: z.string() }),
    z.strictObject({ above: z.number() }),
    z.strictObject({ below: z.number() }),
    z.strictObject({ not: GrantConditionSchema }),
  ]),
)

/** As in agent.yaml: a value, a list of values, a glob, or a comparison. */
export type GrantCondition = z.output<typeof GrantConditionSchema>

/** TypeScript cannot infer the type of a schema that names itself. */
type Condition =
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

export const LookedAtSchema = z.strictObject({
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
    .exactOptional()
    .describe('The values of which only a part was shown.'),
})
/** What the person had on their screen when they decided. It goes into the audit trail. */
export type LookedAt = z.output<typeof LookedAtSchema>

const editedArguments = z.record(z.string(), z.unknown()).exactOptional()
const editedContent = z.string().max(5_000_000).exactOptional()

export const DecisionSchema = z
  .strictObject({
    decision: z
      .enum(['approve', 'reject', 'respond'])
      .describe(
        "`respond`: gives a result in the tool's place, or the answer to a question. The tool does not run for it.",
      ),
    result: z
      .unknown()
      .exactOptional()
      .describe('With `respond`: any JSON value. The answer to a question must fit its `schema`.'),
    digest: z
      .string()
      .max(200)
      .exactOptional()
      .describe(
        '`digest` of the approval that was shown. If the call has changed since, the answer is `approval_changed`.',
      ),
    looked_at: LookedAtSchema.exactOptional().describe(
      'What the person had on their screen. It goes into the audit trail.',
    ),
    reason: z.string().max(2_000).exactOptional(),
    arguments: editedArguments.describe(
      'Replace all arguments of the call. A secret that is left as `[masked]` stays what it is. With the kind `changes`: `leave` and `discard` are lists of paths, and `edit` has the whole new text of each path that a person has edited.',
    ),
    force: z
      .boolean()
      .exactOptional()
      .describe('With the kind `diff`: the change may overwrite the file although it has changed meanwhile.'),
    content: editedContent.describe(
      'With the kind `diff`: the whole file as it should be. The answer is `approval_changed` with the new diff and its digest; approve that.',
    ),
    remember: z
      .enum(rememberScopes)
      .exactOptional()
      .describe(
        'Decide about the like in the same way from now on, allow or refuse: in this `session` (of our own agents: 15 minutes), everywhere for `15m`, in the `workspace` of an agent elsewhere or `always` for our own, both until the grant is revoked. Nothing critical is allowed in advance.',
      ),
    grant: z
      .strictObject({
        where: z
          .record(z.string(), GrantConditionSchema)
          .exactOptional()
          .describe('Which calls are similar, by argument. Default: all arguments are equal.'),
        seconds: z
          .number()
          .int()
          .positive()
          .max(MAX_SECONDS)
          .nullable()
          .exactOptional()
          .describe('null: until the grant is revoked.'),
        match: WorkMatchSchema.exactOptional().describe(
          'Of an agent elsewhere: one of `view.remember.matches`. Default: the first, which is the narrowest.',
        ),
      })
      .exactOptional()
      .describe('The scope of `remember`.'),
  })
  .meta({ id: 'Decision' })

export const GroupDecisionSchema = z
  .strictObject({
    decision: z.enum(['approve', 'reject']),
    items: z
      .array(z.strictObject({ id: z.string().max(64), digest: z.string().max(200) }))
      .min(1)
      .max(100)
      .describe('Pending approvals of low risk with the same `view.group`, each with the digest that was shown.'),
    reason: DecisionSchema.shape.reason,
    looked_at: DecisionSchema.shape.looked_at,
  })
  .meta({ id: 'GroupDecision' })
export type GroupDecision = z.output<typeof GroupDecisionSchema>

export const GroupDecidedSchema = z
  .strictObject({
    items: z.array(
      z.strictObject({
        approval_id: z.string(),
        status: z.enum(approvalStatuses),
        error: z
          .strictObject({ code: z.string(), message: z.string() })
          .exactOptional()
          .describe('Why this one was not decided by this request: somebody was faster, or it has changed.'),
      }),
    ),
  })
  .meta({
    id: 'GroupDecided',
    example: { items: [{ approval_id: exampleApproval.approval_id, status: 'approved' }] },
  })
export type GroupDecided = z.output<typeof GroupDecidedSchema>

export const RememberedSchema = DecisionSchema.pick({ remember: true, grant: true })
/** Decide about similar calls in the same way from now on. */
export type Remembered = z.output<typeof RememberedSchema>

export const EditSchema = z
  .strictObject({
    arguments: editedArguments.describe(
      'In place of all arguments of the call. A secret that is left as `[masked]` stays what it is.',
    ),
    content: editedContent.describe('With the kind `diff`: the whole file as it should be.'),
  })
  .meta({ id: 'Edit' })

export const RevealSchema = z
  .strictObject({ name: z.string().max(20_000).describe('Name of an argument, as `shown.arguments` has it.') })
  .meta({ id: 'Reveal' })
