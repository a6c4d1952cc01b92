// What `useChat` of the AI SDK sends, and the chunks that it reads: UI message stream v1.

import { z } from 'zod'
import { SourceSchema } from '../shared/answer/sources.ts'

/** Only the frame is checked here. What the parts of a message may be is decided where they are read: see `decode.ts`. */
const UiMessageSchema = z.looseObject({
  id: z.string(),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z
    .array(z.looseObject({ type: z.string() }))
    .describe('Text, files, tools. Parts of a type that this server does not know are left out.'),
})

export const UiChatSchema = z.looseObject({
  id: z.string().describe("The chat's id, any name: it names the session."),
  messages: z.array(UiMessageSchema).describe('The chat, or its last message alone: the server keeps the history.'),
  trigger: z.enum(['submit-message', 'regenerate-message']).nullish(),
  messageId: z.string().nullish().describe('Not needed: the messages say what is edited or answered again.'),
  agent: z.string().nullish().describe('Name of the agent that answers. Only for a new chat, or to change the agent.'),
})

export const exampleChat = {
  id: 'my-chat',
  messages: [{ id: 'message-1', role: 'user', parts: [{ type: 'text', text: 'Hello!' }] }],
  trigger: 'submit-message',
}

const toolCallId = z.string()
const id = z.string()
const providerExecuted = z.boolean().describe('The server runs the tool, not the page.')

/** What an answer carries as `message.metadata`. */
const UiMetadataSchema = z.object({
  sessionId: z.string().optional(),
  runId: z.string().optional().describe('`POST /runs/{id}/cancel` stops the answer.'),
  agent: z.string().optional(),
  usage: z
    .object({
      inputTokens: z.int(),
      outputTokens: z.int(),
      totalTokens: z.int(),
      cachedInputTokens: z.int(),
      reasoningTokens: z.int(),
    })
    .optional(),
  outcome: z.enum(['completed', 'cancelled', 'waiting', 'failed', 'interrupted']).optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  citationsNotFound: z
    .array(z.int())
    .optional()
    .describe('Numbers that the answer cites and that nothing was found under.'),
})

/** A part of our own. With the same type and id, a later one takes the place of an earlier one. */
const dataPart = <Name extends string, Data extends z.ZodType>(name: Name, data: Data) =>
  z.object({
    type: z.literal(`data-${name}` as const),
    id: z.string().optional(),
    data,
    transient: z.literal(true).optional(),
  })

export const UiChunkSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), messageId: z.string(), messageMetadata: UiMetadataSchema }),
  z.object({ type: z.literal('message-metadata'), messageMetadata: UiMetadataSchema }),
  z.object({ type: z.literal('start-step') }),
  z.object({ type: z.literal('finish-step') }),
  z.object({ type: z.literal('reset-step') }).describe('The step broke off and is repeated.'),
  z.object({ type: z.literal('text-start'), id }),
  z.object({ type: z.literal('text-delta'), id, delta: z.string() }),
  z.object({ type: z.literal('text-end'), id }),
  z
    .object({
      type: z.literal('source-document'),
      sourceId: z.string(),
      mediaType: z.string(),
      title: z.string(),
      filename: z.string(),
      providerMetadata: z.object({ quarterdeck: SourceSchema }),
    })
    .describe('A passage that the answer cites.'),
  z.object({ type: z.literal('reasoning-start'), id }),
  z.object({ type: z.literal('reasoning-delta'), id, delta: z.string() }),
  z.object({ type: z.literal('reasoning-end'), id }),
  z.object({ type: z.literal('tool-input-start'), toolCallId, toolName: z.string() }),
  z.object({ type: z.literal('tool-input-delta'), toolCallId, inputTextDelta: z.string() }),
  z.object({
    type: z.literal('tool-input-available'),
    toolCallId,
    toolName: z.string(),
    input: z.unknown(),
    providerExecuted,
  }),
  z.object({
    type: z.literal('tool-input-error'),
    toolCallId,
    toolName: z.string(),
    input: z.unknown(),
    errorText: z.string(),
    providerExecuted,
  }),
  z.object({
    type: z.literal('tool-approval-request'),
    approvalId: z.string(),
    toolCallId,
    reason: z.string().optional(),
    signature: z.string().describe('Digest of what is asked. The page sends it back with the answer.'),
    approvalDescriptor: z
      .record(z.string(), z.unknown())
      .describe('Risk, action, preview, until when, who may answer.'),
  }),
  z.object({
    type: z.literal('tool-approval-response'),
    approvalId: z.string(),
    approved: z.boolean(),
    reason: z.string().optional(),
  }),
  z.object({ type: z.literal('tool-output-available'), toolCallId, output: z.unknown() }),
  z.object({ type: z.literal('tool-output-error'), toolCallId, errorText: z.string() }),
  z.object({ type: z.literal('tool-output-denied'), toolCallId }),
  dataPart('state', z.unknown()).describe('The shared state of the session.'),
  dataPart('activity', z.object({ type: z.string(), content: z.record(z.string(), z.unknown()) })),
  dataPart('subagent', z.object({ name: z.string(), status: z.string(), toolCallId: z.string().optional() })),
  dataPart(
    'question',
    z.object({
      toolCallId: z.string(),
      message: z.string(),
      schema: z.record(z.string(), z.unknown()).describe('JSON Schema of the answer.'),
      digest: z.string(),
      expiresAt: z.string().optional(),
    }),
  ).describe('A tool asks a person. The page answers with `addToolOutput` for the call.'),
  dataPart('warning', z.unknown()),
  dataPart('custom', z.object({ name: z.string(), value: z.unknown() })),
  z.object({ type: z.literal('abort'), reason: z.string() }),
  z.object({ type: z.literal('error'), errorText: z.string() }),
  z.object({
    type: z.literal('finish'),
    finishReason: z.enum(['stop', 'length', 'tool-calls', 'interrupted']),
    messageMetadata: UiMetadataSchema,
  }),
])

export type UiChunk = z.infer<typeof UiChunkSchema>
export type UiMetadata = z.infer<typeof UiMetadataSchema>
