import { z } from 'zod'
import { type Prompt as PromptRecord, promptTypes } from '../../../../domain/records/record.ts'
import { wireStatusesOf } from '../../../../domain/records/record-kinds.ts'
import { type Encoded, sameFields } from '../../../shared/same-fields.ts'
import { decodeBody } from '../../supervision/decode.ts'
import { PromptAnswerSchema } from '../../supervision/schema.ts'
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
  prompt_id: z.string(),
  ...elsewhereShape,
  status: z.enum(wireStatusesOf('prompt')),
  prompt_text: z.string(),
  prompt_type: z.enum(promptTypes),
  elapsed_seconds: z.number().nullable(),
  actions_taken: z.number().nullable(),
  expires_at: z.iso.datetime().nullable(),
  decision: z.enum(['continue', 'refine', 'stop']).nullable(),
  instruction: z.string().nullable(),
  reason: z.string().nullable(),
}

const same = sameFields<PromptRecord, typeof shape>(shape)
const encode = (prompt: PromptRecord): Encoded<typeof shape> => ({
  ...same(prompt),
  prompt_id: prompt.id,
  ...elsewhereFields(prompt),
})

const request: Requests<'prompt'> = (_, name) => ({
  body: { decision: name },
  text: name === 'stop' ? 'reason' : 'instruction',
})

const samplePrompt: PromptRecord = {
  ...sample,
  wait: 'prompt',
  expiresAt: Date.parse('2026-11-15T09:30:00.000Z'),
  supervised: askedElsewhere,
  promptText: 'The tests pass. Shall I also update the docs?',
  promptType: 'continuation',
  elapsedSeconds: 340,
  actionsTaken: 12,
  decision: null,
  instruction: null,
}
export const examplePrompt = exampleOf(samplePrompt, encode(samplePrompt), request)

export const PromptSchema = z
  .strictObject({ ...shape, view: RecordViewSchema })
  .meta({ id: 'Prompt', example: examplePrompt })
/** A question that an agent forwards to its operator. */
export type Prompt = z.output<typeof PromptSchema>

export const prompt = {
  shape,
  schema: PromptSchema,
  encode,
  request,
  routes: {
    list: 'List prompts: what agents ask their operators',
    answers: [
      {
        at: '',
        summary: 'Answer a prompt',
        describe: {
          description:
            'The agent gets the answer as the result of its call. The first answer counts; a later one is told who answered what and when. Only the owner of the session and admins may answer.',
          body: {
            schema: PromptAnswerSchema,
            examples: {
              continue: { decision: 'continue' },
              refine: { decision: 'refine', instruction: 'Update the docs, but leave the changelog.' },
              stop: { decision: 'stop', reason: 'Enough for today.' },
            },
          },
          answers: ['The answered prompt.', { ...decided, status: 'decided', decision: 'continue' }],
        },
        async read(request) {
          const { decision, instruction, reason } = await decodeBody(request, PromptAnswerSchema)
          return { action: decision, text: instruction, reason }
        },
      },
    ],
  },
} satisfies KindOnWire<'prompt'>
