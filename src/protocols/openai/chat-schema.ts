// The schemas of POST /v1/chat/completions. Parameters that the agent decides itself (temperature, …) and unknown ones are ignored.

import { z } from 'zod'
import { sourcesShape } from '../shared/answer/sources.ts'
import { ChatFormatSchema } from './answer-format.ts'
import { ChatToolsSchema, ToolChoiceSchema } from './caller-tools.ts'
import { CallIdSchema, ContentSchema, MetadataSchema } from './content-schema.ts'

const ChatToolCallSchema = z.object({
  id: CallIdSchema,
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})

const MessageSchema = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.enum(['system', 'developer', 'user']), content: ContentSchema }),
    z.object({
      role: z.literal('assistant'),
      content: ContentSchema.nullish(),
      refusal: z.string().nullish(),
      tool_calls: z.array(ChatToolCallSchema).nullish(),
    }),
    z.object({ role: z.literal('tool'), tool_call_id: CallIdSchema, content: ContentSchema }),
  ],
  {
    error:
      'Send a message with the role system, developer, user, assistant or tool. (Results of functions have the role tool and a tool_call_id.)',
  },
)

export const ChatRequestSchema = z.object({
  model: z.string().nullish().describe("Name of an agent. Default: the session's agent, or the default agent."),
  messages: z.array(MessageSchema).min(1, 'Send at least one message.'),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.literal(1, 'An agent gives one answer: leave n out.').nullish(),
  user: z.string().nullish(),
  metadata: MetadataSchema.describe('`session_id` names the conversation to continue or to begin.'),
  tools: ChatToolsSchema,
  tool_choice: ToolChoiceSchema,
  parallel_tool_calls: z.boolean().nullish(),
  response_format: ChatFormatSchema,
  functions: z.null('Send functions as tools: [{ "type": "function", "function": { … } }].').optional(),
  function_call: z.null('Send tool_choice in place of function_call.').optional(),
})

const ChatUsageSchema = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.object({ cached_tokens: z.int() }),
  completion_tokens_details: z.object({ reasoning_tokens: z.int() }),
})
export type ChatUsage = z.infer<typeof ChatUsageSchema>

const FinishReasonSchema = z.enum(['stop', 'length', 'content_filter', 'tool_calls'])

export const ChatCompletionSchema = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.literal(0),
      message: z.object({
        role: z.literal('assistant'),
        content: z.string().nullable().describe('Null if there are only `tool_calls`.'),
        refusal: z.null(),
        tool_calls: z.array(ChatToolCallSchema).optional().describe('For the caller to run.'),
      }),
      logprobs: z.null(),
      finish_reason: FinishReasonSchema,
    }),
  ),
  usage: ChatUsageSchema.optional().describe('Absent if the model did not report its tokens.'),
  ...sourcesShape,
})
export type ChatCompletion = z.infer<typeof ChatCompletionSchema>

export const ChatChunkSchema = z.object({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.literal(0),
      delta: z.object({
        role: z.literal('assistant').optional(),
        content: z.string().optional(),
        tool_calls: z
          .array(
            z.object({
              index: z.int(),
              id: z.string().optional(),
              type: z.literal('function').optional(),
              function: z.object({ name: z.string().optional(), arguments: z.string() }),
            }),
          )
          .optional(),
      }),
      logprobs: z.null(),
      finish_reason: FinishReasonSchema.nullable(),
    }),
  ),
  usage: ChatUsageSchema.nullish(),
  ...sourcesShape,
})
export type ChatChunk = z.infer<typeof ChatChunkSchema>
