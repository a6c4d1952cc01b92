import { z } from 'zod'
import type { Alert as AlertRecord } from '../../../../domain/records/record.ts'
import { wireStatusesOf } from '../../../../domain/records/record-kinds.ts'
import { type Encoded, sameFields } from '../../../shared/same-fields.ts'
import { ProgressSchema } from '../../../shared/supervised/schema.ts'
import { decodeBody } from '../../supervision/decode.ts'
import { NudgeSchema } from '../../supervision/schema.ts'
import {
  type Answering,
  askedElsewhere,
  decided,
  elsewhereFields,
  elsewhereShape,
  exampleOf,
  type KindOnWire,
  plainAnswer,
  type Requests,
  sample,
} from '../kind-on-wire.ts'
import { RecordViewSchema } from '../schema.ts'

const time = z.iso.datetime()

const shape = {
  alert_id: z.string(),
  ...elsewhereShape,
  status: z.enum(wireStatusesOf('alert')),
  sign_in: z
    .strictObject({ server: z.string(), url: z.string(), why: z.string() })
    .nullable()
    .describe('The MCP server that needs a sign-in. Null: an agent is silent.'),
  last_tool: z.string().nullable(),
  last_activity_at: time,
  idle_seconds: z.number().describe('When the alert was made.'),
  nudge_count: z.int().min(0),
  nudge_message: z.string().nullable(),
  last_nudge_at: time.nullable(),
  nudged_by: z
    .string()
    .nullable()
    .describe('The way the last nudge took. Null: nothing was open, so it waits for the agent’s next call.'),
  progress_snapshot: ProgressSchema.nullable(),
}

const same = sameFields<AlertRecord, typeof shape>(shape)
const encode = (alert: AlertRecord): Encoded<typeof shape> => ({
  ...same(alert),
  alert_id: alert.id,
  ...elsewhereFields(alert),
  sign_in: alert.signIn ?? null,
  progress_snapshot: alert.progressSnapshot,
})

const request: Requests<'alert'> = (_, name) => ({ at: `/${name}`, body: {}, text: 'message' })

const sampleAlert: AlertRecord = {
  ...sample,
  wait: 'alert',
  supervised: { host: askedElsewhere.host },
  lastTool: 'heartbeat',
  lastActivityAt: Date.parse('2026-11-15T08:55:00.000Z'),
  idleSeconds: 300,
  nudgeCount: 0,
  nudgeMessage: null,
  lastNudgeAt: null,
  nudgedBy: null,
  progressSnapshot: [{ label: 'Add an index', status: 'in_progress' }],
}

export const AlertSchema = z
  .strictObject({ ...shape, view: RecordViewSchema })
  .meta({ id: 'Alert', example: exampleOf(sampleAlert, encode(sampleAlert), request) })
/** An agent that has gone silent, or an MCP server that needs a sign-in. */
export type Alert = z.output<typeof AlertSchema>

/** An answer that closes the alert. */
function closing(action: 'dismiss' | 'stop', summary: string, description: string): Answering {
  const { body, read } = plainAnswer(action)
  const answers: [string, object] = ['The dismissed alert.', { ...decided, status: 'dismissed' }]
  return { at: `/${action}`, summary, describe: { description, body, answers }, read }
}

export const alert = {
  shape,
  schema: AlertSchema,
  encode,
  request,
  routes: {
    list: 'List alerts: agents that have gone silent',
    answers: [
      {
        at: '/nudge',
        summary: 'Nudge a silent agent',
        describe: {
          description:
            'Pushes a nudge through an open connection of the agent. If none is open, the nudge goes out with the result of its next call; `nudged_by` says which.',
          body: {
            schema: NudgeSchema,
            examples: { 'the usual text': {}, 'own words': { message: 'Skip the benchmark and go on.' } },
          },
          answers: [
            'The alert.',
            {
              status: 'nudged',
              nudge_count: 1,
              nudge_message: 'Are you still there?',
              last_nudge_at: '2026-11-15T09:01:00.000Z',
              nudged_by: 'notification',
            },
          ],
        },
        async read(request) {
          const { message } = await decodeBody(request, NudgeSchema)
          return message === undefined ? { action: 'nudge' } : { action: 'nudge', text: message }
        },
      },
      closing('dismiss', 'Say that the silence is fine', 'The silence is fine. It counts anew from here.'),
      closing(
        'stop',
        'End the session of a silent agent',
        'Terminates the session of the silent agent. What it asked is interrupted.',
      ),
    ],
  },
} satisfies KindOnWire<'alert'>
