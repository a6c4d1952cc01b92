// The schemas of POST /v1/responses. As in chat completions, parameters that the agent decides itself are ignored.

import { z } from 'zod'
import { ResponseFormatSchema } from './answer-format.ts'
import { ResponseToolsSchema, ToolChoiceSchema } from './caller-tools.ts'
import { CallIdSchema, ContentSchema, MetadataSchema, TextSchema } from './content-schema.ts'

const MessageItemSchema = z.object({
  type: z.literal('message').nullish(),
  role: z.enum(['system', 'developer', 'user', 'assistant'], 'Send system, developer, user or assistant.'),
  content: ContentSchema,
})

const ReferenceItemSchema = z.object({ type: z.literal('item_reference'), id: z.string() })

/** The server stores the reasoning that the agent needs, so the client's copy is ignored. */
const ReasoningItemSchema = z.object({ type: z.literal('reasoning') })

const CallItemSchema = z.object({
  type: z.literal('function_call'),
  call_id: CallIdSchema,
  name: z.string(),
  arguments: z.string(),
})

const CallOutputItemSchema = z.object({
  type: z.literal('function_call_output'),
  call_id: CallIdSchema,
  output: ContentSchema,
})

const OtherItemSchema = z.object({
  type: z.enum([
    'custom_tool_call',
    'custom_tool_call_output',
    'computer_call',
    'computer_call_output',
    'local_shell_call',
    'local_shell_call_output',
    'shell_call',
    'shell_call_output',
    'apply_patch_call',
    'apply_patch_call_output',
    'file_search_call',
    'web_search_call',
    'image_generation_call',
    'code_interpreter_call',
    'mcp_list_tools',
    'mcp_approval_request',
    'mcp_approval_response',
    'mcp_call',
  ]),
})

const ItemSchema = z.union([
  MessageItemSchema,
  ReferenceItemSchema,
  ReasoningItemSchema,
  CallItemSchema,
  CallOutputItemSchema,
  OtherItemSchema,
])
export type Item = z.infer<typeof ItemSchema>

export const ResponseRequestSchema = z.object({
  model: z.string().nullish().describe("Name of an agent. Default: the session's agent, or the default agent."),
  input: z.union([TextSchema, z.array(ItemSchema).min(1, 'Send at least one item.')]),
  instructions: TextSchema.nullish(),
  previous_response_id: z.string().nullish().describe('Continues the session of that response.'),
  conversation: z
    .union([z.string(), z.object({ id: z.string() })])
    .nullish()
    .describe('The session to continue or to begin.'),
  stream: z.boolean().nullish(),
  user: z.string().nullish(),
  metadata: MetadataSchema,
  tools: ResponseToolsSchema,
  tool_choice: ToolChoiceSchema,
  parallel_tool_calls: z.boolean().nullish(),
  text: z.object({ format: ResponseFormatSchema }).nullish(),
})

const AnnotationSchema = z
  .object({ type: z.literal('file_citation'), file_id: z.string(), filename: z.string(), index: z.int() })
  .describe('A passage that the text cites. `index`: where in the text.')
export type Annotation = z.infer<typeof AnnotationSchema>

const OutputTextSchema = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(AnnotationSchema),
  logprobs: z.array(z.never()),
})

const ItemStatusSchema = z.enum(['in_progress', 'completed', 'incomplete'])

const OutputMessageSchema = z.object({
  id: z.string(),
  type: z.literal('message'),
  status: ItemStatusSchema,
  role: z.literal('assistant'),
  content: z.array(OutputTextSchema),
})
export type OutputMessage = z.infer<typeof OutputMessageSchema>

const OutputCallSchema = z
  .object({
    id: z.string(),
    type: z.literal('function_call'),
    status: ItemStatusSchema,
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  })
  .describe('For the caller to run; `function_call_output` answers it.')
export type OutputCall = z.infer<typeof OutputCallSchema>

const OutputItemSchema = z.discriminatedUnion('type', [OutputMessageSchema, OutputCallSchema])
export type OutputItem = z.infer<typeof OutputItemSchema>

const ResponseUsageSchema = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
})
export type ResponseUsage = z.infer<typeof ResponseUsageSchema>

export const ResponseSchema = z.object({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z.object({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
  instructions: z.string().nullable(),
  model: z.string(),
  output: z.array(OutputItemSchema),
  previous_response_id: z.string().nullable(),
  conversation: z.object({ id: z.string() }).nullable(),
  metadata: z.record(z.string(), z.unknown()),
  user: z.string().nullable(),
  usage: ResponseUsageSchema.nullable(),
  // Except for the tools, the agent decides these and not the request.
  background: z.literal(false),
  max_output_tokens: z.null(),
  parallel_tool_calls: z.literal(true),
  reasoning: z.object({ effort: z.null(), summary: z.null() }),
  store: z.literal(true),
  temperature: z.null(),
  text: z.object({
    format: z.union([
      z.object({ type: z.literal('text') }),
      z.object({ type: z.literal('json_object') }),
      z.object({
        type: z.literal('json_schema'),
        name: z.string(),
        schema: z.record(z.string(), z.unknown()),
        strict: z.literal(true),
      }),
    ]),
  }),
  tool_choice: z.union([
    z.enum(['auto', 'none', 'required']),
    z.object({ type: z.literal('function'), name: z.string() }),
  ]),
  tools: z.array(
    z.object({
      type: z.literal('function'),
      name: z.string(),
      description: z.string(),
      parameters: z.record(z.string(), z.unknown()),
      strict: z.literal(false),
    }),
  ),
  top_p: z.null(),
  truncation: z.literal('auto'),
})
export type ResponseObject = z.infer<typeof ResponseSchema>

const numbered = { sequence_number: z.int() }
const ofItem = { ...numbered, output_index: z.int() }
const ofPart = { ...ofItem, item_id: z.string(), content_index: z.literal(0) }

const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), ...shape })
const ofResponse = { ...numbered, response: ResponseSchema }
const noLogprobs = { logprobs: z.array(z.never()) }

export const ResponseEventSchema = z.discriminatedUnion('type', [
  event('response.created', ofResponse),
  event('response.in_progress', ofResponse),
  event('response.output_item.added', { ...ofItem, item: OutputItemSchema }),
  event('response.content_part.added', { ...ofPart, part: OutputTextSchema }),
  event('response.output_text.delta', { ...ofPart, delta: z.string(), ...noLogprobs }),
  event('response.output_text.annotation.added', {
    ...ofPart,
    annotation_index: z.int(),
    annotation: AnnotationSchema,
  }),
  event('response.output_text.done', { ...ofPart, text: z.string(), ...noLogprobs }),
  event('response.content_part.done', { ...ofPart, part: OutputTextSchema }),
  event('response.function_call_arguments.delta', { ...ofItem, item_id: z.string(), delta: z.string() }),
  event('response.function_call_arguments.done', {
    ...ofItem,
    item_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
  event('response.output_item.done', { ...ofItem, item: OutputItemSchema }),
  event('response.completed', ofResponse),
  event('response.incomplete', ofResponse),
  event('response.failed', ofResponse),
])
export type ResponseEvent = z.infer<typeof ResponseEventSchema>

/** By name, which is also the `event:` line. */
export const responseEvents = Object.fromEntries(
  ResponseEventSchema.options.map((option) => [option.shape.type.value, option]),
)
