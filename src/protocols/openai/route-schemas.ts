// What the routes share in their descriptions.

import { z } from 'zod'
import type { ErrorCode } from '../../domain/errors.ts'
import { fileErrors, runErrors, startErrors } from '../shared/answer/error-lists.ts'

export const ErrorBodySchema = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() }),
})

export const ModelSchema = z.object({
  id: z.string().describe("The agent's name."),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.literal('quarterdeck'),
})
export type Model = z.infer<typeof ModelSchema>

export const ModelListSchema = z.object({ object: z.literal('list'), data: z.array(ModelSchema) })

export const startHeaders = {
  'Idempotency-Key': z.string().optional().describe('The same key and body never make a second run, for 24 hours.'),
  'X-On-Busy': z.enum(['queue', 'reject', 'interrupt']).optional(),
  'Last-Event-ID': z.string().optional().describe('Goes on behind that event; never starts work.'),
}

/** Of a request that starts a run and waits for it. A refusal of the model is an answer here. */
export const answerErrors: readonly ErrorCode[] = [
  ...startErrors,
  ...fileErrors,
  'not_available_yet',
  ...runErrors.filter((code) => code !== 'model_refused'),
]
