// The schemas of the agent routes. They check requests and describe answers.

import { z } from 'zod'
import { fileLimits } from '../../domain/file.ts'
import { MessageSchema } from '../shared/request/message-limits.ts'
import { SentFilesSchema } from '../shared/request/sent-file.ts'

export const ChatRequestSchema = z.strictObject({
  message: MessageSchema,
  session_id: z.string().nullish().meta({
    description:
      'The session to continue: a ULID, a UUID, or the name that a client gave it. Without it, or with an unknown id, a new session begins.',
  }),
  files: SentFilesSchema,
})

/** The same request as a form. */
export const ChatFormSchema = z.strictObject({
  message: ChatRequestSchema.shape.message,
  session_id: z.string().optional(),
  files: z
    .array(z.file())
    .max(fileLimits.files)
    .optional()
    .meta({
      description: `Up to ${fileLimits.multipartBytes / 1e6} MB each and ${fileLimits.totalBytes / 1e6} MB in all.`,
    }),
})

const SessionIdSchema = z.string().meta({ description: 'A ULID, or the name from the request.' })
const AnswerIdSchema = z
  .string()
  .meta({ description: 'A ULID. It identifies the answer in all events, and the run at /runs/{id}.' })

const TokensUsedSchema = z
  .object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() })
  .nullable()
  .meta({ description: 'Null if the model did not report its tokens.' })

const CallStatusSchema = z.enum(['success', 'error'])

export const ChatResponseSchema = z.object({
  message_id: AnswerIdSchema,
  content: z.string().meta({ description: 'Everything the agent said. May be empty.' }),
  session_id: SessionIdSchema,
  tool_calls: z.array(
    z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()), status: CallStatusSchema }),
  ),
  tokens_used: TokensUsedSchema,
  execution_time_ms: z.int(),
})

export const WaitingSchema = z.object({
  status: z.literal('waiting'),
  run_id: z.string(),
  approval_ids: z.array(z.string()),
})

/** The `event:` lines of the stream, each with its data. */
export const streamEventSchemas = {
  stream_start: z.object({ session_id: SessionIdSchema, message_id: AnswerIdSchema }),
  message_delta: z.object({ delta: z.string(), message_id: AnswerIdSchema }),
  tool_call_start: z.object({ tool_call_id: z.string(), name: z.string(), message_id: AnswerIdSchema }),
  tool_call_args: z.object({ tool_call_id: z.string(), args_delta: z.string() }),
  tool_call_end: z.object({ tool_call_id: z.string(), status: CallStatusSchema }),
  stream_end: z.object({
    message_id: AnswerIdSchema,
    tokens_used: TokensUsedSchema,
    execution_time_ms: z.int(),
    ...WaitingSchema.partial().shape,
  }),
  error: z.looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string().optional(),
    code: z.string(),
    correlation_id: z.string(),
  }),
} as const

export type StreamEventName = keyof typeof streamEventSchemas
export type ChatResponse = z.infer<typeof ChatResponseSchema>
export type TokensUsed = z.infer<typeof TokensUsedSchema>
export type Waiting = z.infer<typeof WaitingSchema>
