// What these routes take and answer, for the OpenAPI document.

import { z } from 'zod'
import type { ErrorCode } from '../../domain/errors.ts'
import type { RouteDescription } from '../../http/route-description.ts'
import { fileErrors, runErrors, startErrors } from '../shared/answer/error-lists.ts'
import { ChatChunkSchema, ChatCompletionSchema, ChatRequestSchema } from './chat-schema.ts'
import { ResponseEventSchema, ResponseRequestSchema, ResponseSchema, responseEvents } from './response-schema.ts'

export const ErrorBodySchema = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() }),
})

const ModelSchema = z.object({
  id: z.string().describe("The agent's name."),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.literal('quarterdeck'),
})
export type Model = z.infer<typeof ModelSchema>

const ModelListSchema = z.object({ object: z.literal('list'), data: z.array(ModelSchema) })

const startHeaders = {
  'Idempotency-Key': z.string().optional().describe('For 24 hours, the same key and body never start a second run.'),
  'X-On-Busy': z.enum(['queue', 'reject', 'interrupt']).optional(),
  'Last-Event-ID': z.string().optional().describe('Continues after that event; never starts a run.'),
}

/** The errors of a request that starts a run and waits for it. A refusal of the model is an answer, not an error. */
const answerErrors: readonly ErrorCode[] = [
  ...startErrors,
  ...fileErrors,
  'not_available_yet',
  ...runErrors.filter((code) => code !== 'model_refused'),
]

const TAG = 'OpenAI'

export const describeChat: RouteDescription = {
  tag: TAG,
  description:
    'Without a name (`metadata.session_id` or `X-Session-Id`) the request holds the whole conversation. It goes on in the session of the caller in which just that was said, or begins one. With a conversation, the server stores the history and takes only the new messages at the end. The caller runs `tools`: the answer ends with `tool_calls`, and the next request sends their results. What a repeated request cannot change is 400 with our `code`, such as `approval_pending`, because clients of OpenAI repeat requests by themselves.',
  headers: { ...startHeaders, 'X-Session-Id': z.string().optional().describe('Name of the conversation.') },
  body: {
    schema: ChatRequestSchema,
    examples: {
      question: { model: 'assistant', messages: [{ role: 'user', content: 'Hello!' }] },
      stream: {
        model: 'assistant',
        messages: [{ role: 'user', content: 'Hello!' }],
        stream: true,
        stream_options: { include_usage: true },
      },
      conversation: {
        model: 'assistant',
        messages: [{ role: 'user', content: 'And then?' }],
        metadata: { session_id: 'my-conversation' },
      },
      tool: {
        model: 'assistant',
        messages: [{ role: 'user', content: 'Paint the page.' }],
        tools: [
          {
            type: 'function',
            function: {
              name: 'paint',
              description: 'Paints the page.',
              parameters: { type: 'object', properties: { colour: { type: 'string' } } },
            },
          },
        ],
        metadata: { session_id: 'my-conversation' },
      },
      'tool result': {
        model: 'assistant',
        messages: [{ role: 'tool', tool_call_id: 'call_0192f3a1-7b2c-7def-8abc-0123456789ab', content: 'It is red.' }],
        metadata: { session_id: 'my-conversation' },
      },
    },
  },
  responses: {
    200: {
      description: 'The answer, or with `stream: true` its chunks and then `[DONE]`.',
      content: {
        'application/json': { schema: ChatCompletionSchema },
        'text/event-stream': { schema: z.union([ChatChunkSchema, ErrorBodySchema, z.literal('[DONE]')]) },
      },
    },
    204: { description: 'With `Last-Event-ID`: the run has no further events.' },
  },
  errors: answerErrors,
}

export const describeRespond: RouteDescription = {
  tag: TAG,
  description:
    '`previous_response_id` or `conversation` continues a session, and only the new messages at the end are taken. Without either, the input holds the whole conversation. It goes on in the session of the caller in which just that was said, or begins one. The caller runs `tools`: the response ends with items of the type `function_call`, and the next request sends `function_call_output`. What a repeated request cannot change is 400 with our `code`, such as `approval_pending`, because clients of OpenAI repeat requests by themselves.',
  headers: startHeaders,
  body: {
    schema: ResponseRequestSchema,
    examples: {
      question: { model: 'assistant', input: 'Hello!' },
      items: {
        model: 'assistant',
        instructions: 'Be brief.',
        input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello!' }] }],
        stream: true,
      },
      conversation: { model: 'assistant', input: 'And then?', conversation: 'my-conversation' },
      tool: {
        model: 'assistant',
        input: 'Paint the page.',
        tools: [{ type: 'function', name: 'paint', description: 'Paints the page.' }],
      },
      'tool result': {
        model: 'assistant',
        previous_response_id: 'resp_0192f3a17b2c7def8abc0123456789ab',
        input: [
          {
            type: 'function_call_output',
            call_id: 'call_0192f3a1-7b2c-7def-8abc-0123456789ab',
            output: 'It is red.',
          },
        ],
      },
    },
  },
  responses: {
    200: {
      description: 'The response, or with `stream: true` its events.',
      content: {
        'application/json': { schema: ResponseSchema },
        'text/event-stream': { schema: ResponseEventSchema, events: responseEvents },
      },
    },
    204: { description: 'With `Last-Event-ID`: the run has no further events.' },
  },
  errors: answerErrors,
}

export const describeRetrieve: RouteDescription = {
  tag: TAG,
  description:
    'While its run is at work, or waits for a person, its `status` is `in_progress`. `GET /runs/{id}/events` streams it.',
  params: { id: z.string().describe('The `id` of the response.') },
  query: { stream: z.literal(false).optional().describe('A response cannot be streamed again.') },
  responses: {
    200: { description: 'The response.', content: { 'application/json': { schema: ResponseSchema } } },
  },
  errors: ['invalid_request', 'run_not_found', 'storage_failed'],
}

export const describeCancel: RouteDescription = {
  tag: TAG,
  description: 'Stops the run of the response. A response that has ended is returned as it is.',
  params: { id: z.string().describe('The `id` of the response.') },
  responses: {
    200: { description: 'The response.', content: { 'application/json': { schema: ResponseSchema } } },
  },
  errors: ['run_not_found', 'storage_full', 'storage_failed'],
}

const DeletedResponseSchema = z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) })
export type DeletedResponse = z.infer<typeof DeletedResponseSchema>

export const describeDelete: RouteDescription = {
  tag: TAG,
  description:
    'Deletes the response with its session. If other responses belong to the same conversation it is 400: `DELETE /sessions/{id}` deletes all of it.',
  params: { id: z.string().describe('The `id` of the response.') },
  responses: {
    200: { description: 'It is deleted.', content: { 'application/json': { schema: DeletedResponseSchema } } },
  },
  errors: ['run_not_found', 'conflict', 'storage_full', 'storage_failed'],
}

export const describeModels: RouteDescription = {
  tag: TAG,
  responses: {
    200: { description: 'All agents.', content: { 'application/json': { schema: ModelListSchema } } },
  },
  errors: [],
}

export const describeModel: RouteDescription = {
  tag: TAG,
  params: { id: z.string().describe("The agent's name.") },
  responses: { 200: { description: 'The agent.', content: { 'application/json': { schema: ModelSchema } } } },
  errors: ['agent_not_found'],
}
