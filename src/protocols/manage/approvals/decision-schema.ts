// What the routes of approvals take.

import { z } from 'zod'

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
    arguments: z
      .record(z.string(), z.unknown())
      .exactOptional()
      .describe('Replace all arguments of the call. A secret that is left as `[masked]` stays what it is.'),
    force: z
      .boolean()
      .exactOptional()
      .describe('With the kind `diff`: the change may overwrite the file although it has changed meanwhile.'),
    content: z
      .string()
      .max(5_000_000)
      .exactOptional()
      .describe(
        'With the kind `diff`: the whole file as it should be. The answer is `approval_changed` with the new diff and its digest; approve that.',
      ),
    remember: z
      .enum(['session', 'always'])
      .exactOptional()
      .describe(
        'Decide about similar calls in the same way from now on, allow or refuse: in this session (15 minutes), or in all sessions (until the grant is revoked).',
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
      })
      .exactOptional()
      .describe('The scope of `remember`.'),
  })
  .meta({ id: 'Decision' })

export const RememberedSchema = DecisionSchema.pick({ remember: true, grant: true })
/** Decide about similar calls in the same way from now on. */
export type Remembered = z.output<typeof RememberedSchema>

export const EditSchema = z
  .strictObject({
    arguments: z
      .record(z.string(), z.unknown())
      .exactOptional()
      .describe('In place of all arguments of the call. A secret that is left as `[masked]` stays what it is.'),
    content: z
      .string()
      .max(5_000_000)
      .exactOptional()
      .describe('With the kind `diff`: the whole file as it should be.'),
  })
  .meta({ id: 'Edit' })

export const RevealSchema = z
  .strictObject({ name: z.string().max(20_000).describe('Name of an argument, as `shown.arguments` has it.') })
  .meta({ id: 'Reveal' })
