// What the agent routes answer.

import { z } from 'zod'
import { ProblemSchema } from '../../http/open-api/error-responses.ts'
import { sourcesShape } from '../shared/answer/sources.ts'
import { exampleWaiting, waitingShape } from '../shared/answer/waiting.ts'

const SessionIdSchema = z.string().meta({ description: 'A ULID, or the name from the request.' })
const AnswerIdSchema = z
  .string()
  .meta({ description: 'A ULID. It identifies the answer in all events, and the run at /runs/{id}.' })

export const TokensUsedSchema = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
})
export type TokensUsed = z.output<typeof TokensUsedSchema>

const reportedTokens = TokensUsedSchema.nullable().meta({ description: 'Null if the model did not report its tokens.' })

const CallStatusSchema = z.enum(['success', 'error'])

export const ChatResponseSchema = z
  .object({
    message_id: AnswerIdSchema,
    content: z.string().meta({ description: 'Everything the agent said. May be empty.' }),
    session_id: SessionIdSchema,
    tool_calls: z.array(
      z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()), status: CallStatusSchema }),
    ),
    tokens_used: reportedTokens,
    execution_time_ms: z.int(),
    ...sourcesShape,
  })
  .meta({
    example: {
      message_id: '01J9ZQ4A7M2N8P5R1T6V3W9X0Y',
      content: 'It is sunny, 21 °C.',
      session_id: '01J9ZQ3V6K8R2T4Y7B5N0M1C3D',
      tool_calls: [{ name: 'weather', arguments: { city: 'Berlin' }, status: 'success' }],
      tokens_used: { prompt_tokens: 21, completion_tokens: 9, total_tokens: 30 },
      execution_time_ms: 1240,
    },
  })
export type ChatAnswer = z.output<typeof ChatResponseSchema>

export const WaitingSchema = z.object(waitingShape).meta({ example: exampleWaiting })
export type Waiting = z.output<typeof WaitingSchema>

export const StreamEventDataSchema = z.object({
  stream_start: z.object({ session_id: SessionIdSchema, message_id: AnswerIdSchema }),
  message_delta: z.object({ delta: z.string(), message_id: AnswerIdSchema }),
  tool_call_start: z.object({ tool_call_id: z.string(), name: z.string(), message_id: AnswerIdSchema }),
  tool_call_args: z.object({ tool_call_id: z.string(), args_delta: z.string() }),
  tool_call_end: z.object({ tool_call_id: z.string(), status: CallStatusSchema }),
  stream_end: z.object({
    message_id: AnswerIdSchema,
    tokens_used: reportedTokens,
    execution_time_ms: z.int(),
    ...sourcesShape,
    ...WaitingSchema.partial().shape,
  }),
})
/** The events of a streamed answer, by their `event:` line. A failure comes as `error`. */
export type StreamEventData = z.output<typeof StreamEventDataSchema>

/** The `event:` lines of the stream, each with its data. */
export const streamEventSchemas = {
  ...StreamEventDataSchema.shape,
  error: ProblemSchema.omit({ errors: true }),
} as const

export type StreamEventName = keyof typeof streamEventSchemas
