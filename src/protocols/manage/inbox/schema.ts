import { z } from 'zod'
import { type PersonKind, personKinds, recordKinds } from '../../../domain/records/record-kinds.ts'
import { TakenBySchema } from '../events/schema.ts'
import { exampleApproval } from '../records/kinds/approval.ts'
import { examplePrompt } from '../records/kinds/prompt.ts'
import { answerRequests, recordSchemas, type SchemaOf, type WireOf } from '../records/kinds-on-wire.ts'
import { RecordViewSchema, withoutView } from '../records/schema.ts'

const shared = {
  id: z.string(),
  session_id: z.string(),
  owner: z.string(),
  agent: z.string().describe('The agent, or the host of an agent elsewhere.'),
  title: z.string().describe('What it is about, in one line: every hidden character is marked, as `<U+202E>`.'),
  status: z.string().describe('As in its record.'),
  risk: z.enum(['low', 'high', 'critical']).nullable().describe('Of an approval.'),
  tool: z.string().nullable().describe('Of an approval.'),
  host: z.string().nullable().describe('The host of an agent elsewhere, if one asks.'),
  session_title: z.string().nullable(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  decided_at: z.iso.datetime().nullable(),
  decided_by: z.string().nullable(),
  decided_channel: z.string().nullable(),
  taken_by: TakenBySchema.nullable().describe('Who else looks at it now. They decide nothing by that.'),
  view: RecordViewSchema,
}

type ItemOf<Kind extends PersonKind> = Kind extends PersonKind
  ? z.ZodObject<
      typeof shared & { kind: z.ZodLiteral<WireOf<Kind>['kind']> } & {
        [Name in WireOf<Kind>['kind']]: SchemaOf<Kind>
      },
      z.core.$strict
    >
  : never

/** What all kinds have, and the record itself under the name of its kind. */
function itemOf(of: PersonKind): ItemOf<PersonKind> {
  const { kind } = recordKinds[of].wire
  const record = recordSchemas[of].describe(`Answer it with ${answerRequests(of)}.`)
  return z.strictObject({ ...shared, kind: z.literal(kind), [kind]: record }) as ItemOf<PersonKind>
}

type Item = ItemOf<PersonKind>
export const InboxItemSchema = z
  .discriminatedUnion('kind', personKinds.map(itemOf) as [Item, ...Item[]])
  .meta({ id: 'InboxItem' })
/** Something that waits or waited for a person. */
export type InboxItem = z.output<typeof InboxItemSchema>

export const TakenSchema = z
  .strictObject({ taken_by: shared.taken_by })
  .meta({ example: { taken_by: { name: 'mara', at: '2026-11-15T09:05:00.000Z' } } })
export type Taken = z.output<typeof TakenSchema>

export const InboxSchema = z
  .strictObject({
    items: z.array(InboxItemSchema),
    total: z.int().nullable().describe('How many fit the filter, on all pages. Null: what is done is not counted.'),
    counts: z
      .strictObject({ critical: z.int(), high: z.int(), low: z.int() })
      .nullable()
      .describe('The same by risk. What is no approval counts as high.'),
    cursor: z.string().describe('Send it to `GET /inbox/events` as `after`: that stream goes on where this list ends.'),
  })
  .meta({
    example: {
      items: [
        {
          id: examplePrompt.prompt_id,
          kind: 'prompt',
          session_id: examplePrompt.session_id,
          owner: examplePrompt.owner,
          agent: examplePrompt.host,
          title: examplePrompt.prompt_text,
          status: examplePrompt.status,
          risk: null,
          tool: null,
          host: examplePrompt.host,
          session_title: 'Renew the shop',
          created_at: examplePrompt.created_at,
          expires_at: examplePrompt.expires_at,
          decided_at: examplePrompt.decided_at,
          decided_by: examplePrompt.decided_by,
          decided_channel: examplePrompt.decided_channel,
          taken_by: { name: 'mara', at: '2026-11-15T09:05:00.000Z' },
          view: examplePrompt.view,
          prompt: withoutView(examplePrompt),
        },
        {
          id: exampleApproval.approval_id,
          kind: 'approval',
          session_id: exampleApproval.session_id,
          owner: 'ada',
          agent: exampleApproval.agent,
          title: exampleApproval.title,
          status: exampleApproval.status,
          risk: exampleApproval.risk,
          tool: exampleApproval.tool,
          host: null,
          session_title: 'Write to Bob',
          created_at: exampleApproval.created_at,
          expires_at: exampleApproval.expires_at,
          decided_at: null,
          decided_by: null,
          decided_channel: null,
          taken_by: null,
          view: exampleApproval.view,
          approval: withoutView(exampleApproval),
        },
      ],
      total: 2,
      counts: { critical: 0, high: 2, low: 0 },
      cursor: 'f.12',
    },
  })
export type Inbox = z.output<typeof InboxSchema>
