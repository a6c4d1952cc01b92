import { z } from 'zod'
import { exampleWaiting, waitingShape } from '../shared/answer/waiting.ts'
import { MessageSchema } from '../shared/request/message-limits.ts'

export const MAX_METADATA_BYTES = 16 * 1024
/** Every request can add to the metadata of its thread, up to this limit. */
export const MAX_THREAD_METADATA_BYTES = 4 * MAX_METADATA_BYTES

const MetadataSchema = z.record(z.string(), z.unknown())

/** Some clients send `null` for fields they leave out. */
export const ThreadChatSchema = z.strictObject({
  message: MessageSchema,
  thread_id: z.string().nullish(),
  stream: z.boolean().nullish().describe('Default: true.'),
  metadata: MetadataSchema.refine(
    (metadata) => Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES,
    `The metadata has at most ${MAX_METADATA_BYTES} bytes of JSON.`,
  ).nullish(),
})

/** Exactly one of `result` and `error`. Clients send `null` for the other. */
export const ToolResultSchema = z
  .strictObject({
    execution_id: z.uuid('Send the execution_id of a tool_execution_request: a UUID.'),
    result: z.unknown().optional().describe('The result of the tool. Null counts as left out.'),
    error: z.string().nullish().describe('Why the tool failed. Null counts as left out.'),
    execution_time_ms: z.number().min(0),
  })
  .refine(
    ({ result, error }) => (result == null) !== (error == null),
    'Send either result or error; null counts as left out. Send "" as the result of a tool that returns nothing.',
  )

const time = z.iso.datetime({ precision: 3 })
const milliseconds = z.int().min(0)
const args = z.record(z.string(), z.unknown())

const ToolUseSchema = z.union([
  z.strictObject({
    tool_name: z.string(),
    arguments: args,
    result: z.unknown().describe('A JSON value, or text if the result is not JSON. Null while there is no result.'),
    execution_time_ms: milliseconds.nullable(),
  }),
  z.strictObject({
    tool_name: z.string(),
    arguments: args,
    error: z.string(),
    execution_time_ms: milliseconds.nullable(),
  }),
])

const exampleId = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const exampleTimes = { created_at: '2026-11-15T09:00:00.000Z', updated_at: '2026-11-15T09:00:02.125Z' }
const exampleMessage = {
  role: 'assistant',
  content: 'Hello.',
  timestamp: exampleTimes.updated_at,
  tool_calls: null,
  metadata: { page: 'start' },
}

const ChatMessageSchema = z.strictObject({
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  content: z.string().describe('An empty answer is " " with `metadata.empty`.'),
  timestamp: time,
  tool_calls: z.array(ToolUseSchema).nullable(),
  metadata: MetadataSchema.describe(
    'Metadata of the request; of an answer that cites also its `sources`, as in §3, and `citations_not_found`.',
  ),
})

export const ThreadAnswerSchema = z
  .strictObject({ thread_id: z.string(), message: ChatMessageSchema })
  .meta({ example: { thread_id: exampleId, message: exampleMessage } })

const execution = { execution_id: z.uuid(), tool_call_id: z.string(), tool_name: z.string(), arguments: args }

export const WaitingSchema = z
  .strictObject({
    ...waitingShape,
    thread_id: z.string().optional().describe('Beside `tool_executions`: where the rest of the answer will be.'),
    tool_executions: z
      .array(z.strictObject(execution))
      .optional()
      .describe('The calls that the client must run, if there are any: send the result of each to POST /tool_result.'),
  })
  .meta({ example: exampleWaiting })

const shared = { thread_id: z.string(), timestamp: time }
const call = { ...shared, tool_call_id: z.string(), tool_name: z.string() }

const errorTypes = ['validation', 'timeout', 'llm', 'tool', 'limit', 'cancelled', 'shutdown', 'internal'] as const

/** One event of the stream. */
export const ThreadEventSchema = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('token'), ...shared, token: z.string() }),
  z.strictObject({ event: z.literal('tool_start'), ...call, arguments: args }),
  z.strictObject({
    event: z.literal('tool_end'),
    ...call,
    result: z.unknown().describe('A JSON value, or text if the result is not JSON. Null beside `error`.'),
    error: z.string().optional(),
    execution_time_ms: milliseconds,
  }),
  z
    .strictObject({ event: z.literal('tool_execution_request'), ...shared, ...execution })
    .describe('Run this tool and send its result to POST /tool_result.'),
  z.strictObject({
    event: z.literal('tool_execution_complete'),
    execution_id: z.uuid(),
    ...shared,
    tool_call_id: z.string(),
    error: z.string().optional().describe('The text for the model if no result came in time.'),
  }),
  z.strictObject({
    event: z.literal('message_complete'),
    ...shared,
    message: ChatMessageSchema,
    status: waitingShape.status.optional().describe('The run waits for a person.'),
    run_id: waitingShape.run_id.optional(),
    approval_ids: waitingShape.approval_ids.optional(),
  }),
  z.strictObject({
    event: z.literal('error'),
    ...shared,
    error_type: z.enum(errorTypes),
    error_message: z.string(),
    recoverable: z.boolean().describe('The same request may succeed later.'),
  }),
])

const ThreadInfoSchema = z
  .strictObject({ thread_id: z.string(), message_count: z.int().min(0), created_at: time, updated_at: time })
  .meta({ example: { thread_id: exampleId, message_count: 2, ...exampleTimes } })

export const ThreadListSchema = z.strictObject({ threads: z.array(ThreadInfoSchema) })

export const ThreadSchema = z
  .strictObject({
    thread_id: z.string(),
    created_at: time,
    updated_at: time,
    message_history: z.array(ChatMessageSchema),
    metadata: MetadataSchema,
  })
  .meta({
    example: {
      thread_id: exampleId,
      ...exampleTimes,
      message_history: [
        { ...exampleMessage, role: 'user', content: 'Hello!', timestamp: exampleTimes.created_at },
        exampleMessage,
      ],
      metadata: { page: 'start' },
    },
  })

export type ChatMessage = z.infer<typeof ChatMessageSchema>
export type ToolUse = z.infer<typeof ToolUseSchema>
export type Waiting = z.infer<typeof WaitingSchema>
export type ToolExecution = NonNullable<Waiting['tool_executions']>[number]
export type ThreadEvent = z.infer<typeof ThreadEventSchema>
export type ErrorType = (typeof errorTypes)[number]
