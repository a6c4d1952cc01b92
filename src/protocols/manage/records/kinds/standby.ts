import { z } from 'zod'
import type { Standby as StandbyRecord } from '../../../../domain/records/record.ts'
import { wireStatus, wireStatusesOf } from '../../../../domain/records/record-kinds.ts'
import { type Encoded, sameFields } from '../../../shared/same-fields.ts'
import { decodeWaitAnswer } from '../../supervision/decode.ts'
import { WaitAnswerSchema } from '../../supervision/schema.ts'
import {
  askedElsewhere,
  decided,
  elsewhereFields,
  elsewhereShape,
  exampleOf,
  type KindOnWire,
  type Requests,
  sample,
} from '../kind-on-wire.ts'
import { RecordViewSchema } from '../schema.ts'

const shape = {
  wait_id: z.string(),
  ...elsewhereShape,
  status: z.enum(wireStatusesOf('standby')),
  message: z.string(),
  timeout_seconds: z.number().describe('0: it waits for ever.'),
  expires_at: z.iso.datetime().nullable(),
  instruction: z.string().nullable(),
}

const same = sameFields<StandbyRecord, typeof shape>(shape)
const encode = (standby: StandbyRecord): Encoded<typeof shape> => ({
  ...same(standby),
  wait_id: standby.id,
  ...elsewhereFields(standby),
  status: wireStatus('standby', standby.status),
})

const request: Requests<'standby'> = (_, name) => ({
  body: name === 'stop' ? { stop: true } : {},
  text: 'instruction',
})

const sampleStandby: StandbyRecord = {
  ...sample,
  wait: 'standby',
  supervised: askedElsewhere,
  message: 'The migration is done. What next?',
  timeoutSeconds: 0,
  instruction: null,
}

export const StandbySchema = z
  .strictObject({ ...shape, view: RecordViewSchema })
  .meta({ id: 'Wait', example: exampleOf(sampleStandby, encode(sampleStandby), request) })
/** An agent that stands by for an instruction. */
export type Standby = z.output<typeof StandbySchema>

export const standby = {
  shape,
  schema: StandbySchema,
  encode,
  request,
  routes: {
    list: 'List waits: agents that stand by for an instruction',
    answers: [
      {
        at: '',
        summary: 'Tell a waiting agent what to do',
        describe: {
          description: 'Wakes an agent that stands by. The first answer counts.',
          body: {
            schema: WaitAnswerSchema,
            examples: {
              instruct: { instruction: 'Now write the tests.' },
              'go on': {},
              stop: { stop: true },
            },
          },
          answers: ['The ended wait.', { ...decided, status: 'resumed', instruction: 'Now write the tests.' }],
        },
        async read(request) {
          const text = await decodeWaitAnswer(request)
          return text === null ? { action: 'resume' } : { action: 'resume', text }
        },
      },
    ],
  },
} satisfies KindOnWire<'standby'>
