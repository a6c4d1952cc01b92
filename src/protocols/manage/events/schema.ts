import { z } from 'zod'
import { anyOf, type PersonKind, personKinds, recordKinds, wireKinds } from '../../../domain/records/record-kinds.ts'
import { AgUiEventSchema } from '../../shared/events/describe-events.ts'
import { recordSchemas, type SchemaOf, type WireOf } from '../records/kinds-on-wire.ts'

const subject = { session_id: z.string(), owner: z.string(), agent: z.string() }
const head = { type: z.literal('feed'), id: z.string(), at: z.iso.datetime() }

const example = {
  type: 'feed',
  id: 'f.12',
  at: '2026-11-15T09:00:00.000Z',
  kind: 'run',
  run_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  parent_run_id: null,
  session_id: '0192f3a1-7b2c-7def-8abc-0123456789ac',
  owner: 'ada',
  agent: 'assistant',
  status: 'running',
}

type RecordItem<Kind extends PersonKind> = Kind extends PersonKind
  ? z.ZodObject<
      typeof head &
        typeof subject & {
          kind: z.ZodLiteral<WireOf<Kind>['kind']>
          risk: SchemaOf<Kind>['shape'] extends { risk: infer Risk } ? Risk : z.ZodNull
          status: SchemaOf<Kind>['shape']['status']
        } & { [Id in WireOf<Kind>['id']]: z.ZodString },
      z.core.$strict
    >
  : never

function recordItem(of: PersonKind): RecordItem<PersonKind> {
  const { kind, id } = recordKinds[of].wire
  const { shape } = recordSchemas[of]
  const risk = 'risk' in shape ? shape.risk : z.null()
  const item = { ...head, kind: z.literal(kind), [id]: z.string(), risk, ...subject, status: shape.status }
  return z.strictObject(item) as RecordItem<PersonKind>
}

const withArticle = (noun: string): string => `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`

export const FeedItemSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({
      ...head,
      kind: z.literal('session'),
      ...subject,
      status: z.enum(['created', 'active', 'paused', 'interrupted', 'terminated']),
    }),
    z.strictObject({
      ...head,
      kind: z.literal('run'),
      run_id: z.string(),
      parent_run_id: z.string().nullable(),
      ...subject,
      status: z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'interrupted']),
    }),
    ...personKinds.map(recordItem),
  ])
  .describe(`${anyOf(['A session', 'a run', ...wireKinds.map(withArticle)])} that is new or has a new status.`)
  .meta({ id: 'FeedItem', example })
export type FeedItem = z.output<typeof FeedItemSchema>

export const FeedEntrySchema = z
  .strictObject({
    type: z.literal('entry'),
    id: z.string().describe('The id of the event in its session.'),
    session_id: z.string(),
    event: AgUiEventSchema,
  })
  .describe('An event of a named session.')

export const TakenBySchema = z.strictObject({ name: z.string(), at: z.iso.datetime().describe('Since when.') })

export const FeedTakenSchema = z
  .strictObject({
    type: z.literal('taken'),
    items: z.array(z.strictObject({ id: z.string(), taken_by: TakenBySchema })),
  })
  .describe(
    'For operators: everything in the inbox that somebody else looks at now. It replaces what the frame before it said, and has no `id:`. Nobody looks at anything until the stream says so.',
  )
export type FeedTaken = z.output<typeof FeedTakenSchema>

export const FeedCursorSchema = z
  .strictObject({ type: z.literal('cursor') })
  .describe('Nothing happened. Its `id:` is where the stream stands; the first frame of every stream is one.')

export const FeedErrorSchema = z
  .strictObject({ type: z.literal('error'), code: z.string(), message: z.string() })
  .describe('The stream ends. Connect again with the last id.')
