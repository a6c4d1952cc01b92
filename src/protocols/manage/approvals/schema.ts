import { z } from 'zod'
import { approvalStatuses } from '../../../domain/wait.ts'

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
  decision: z.enum(['approve', 'reject']),
  digest: z
    .string()
    .max(200)
    .optional()
    .describe(
      '`digest` of the approval that was shown. If the call has changed since, the answer is `approval_changed`.',
    ),
  reason: z.string().max(2_000).optional(),
  arguments: z.record(z.string(), z.unknown()).optional().describe('Replace all arguments of the call.'),
  remember: z
    .enum(['session', 'always'])
    .optional()
    .describe(
      'Allow similar calls from now on: in this session (15 minutes), or in all sessions (until the grant is revoked).',
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

const time = z.iso.datetime()

export const ApprovalSchema = z
  .strictObject({
    approval_id: z.string(),
    status: z.enum(approvalStatuses),
    kind: z.enum(['tool_call', 'diff', 'permission', 'policy']),
    title: z.string(),
    description: z.string(),
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
    reason: z.string().nullable(),
    consumed_at: time.nullable(),
  })
  .meta({ id: 'Approval' })

export const GrantSchema = z
  .strictObject({
    grant_id: z.string(),
    agent: z.string(),
    tool: z.string(),
    where: z.record(z.string(), z.unknown()),
    session_id: z.string().nullable(),
    granted_by: z.string(),
    approval_id: z.string(),
    created_at: time,
    expires_at: time.nullable(),
  })
  .meta({ id: 'Grant' })
