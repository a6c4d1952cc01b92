// OpenAI's API for our agents: chat completions, responses, embeddings, models. An agent is a model here.

import { z } from 'zod'
import { type ErrorCode, modelErrors, runNotFound } from '../../domain/errors.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { Reply, Request, Route } from '../../http/route.ts'
import { fileErrors, runErrors, startErrors } from '../shared/answer/error-lists.ts'
import { jsonWithFiles } from '../shared/request/body-with-files.ts'
import { queryProblem } from '../shared/request/page.ts'
import { routeHeads } from '../shared/route-heads.ts'
import { createAnswerRun, type NamedSession, type OpenAiDeps } from './answer-run.ts'
import { ChatChunkSchema, ChatCompletionSchema, ChatRequestSchema } from './chat-schema.ts'
import { decodeChat, decodeResponse, type ResponseRequest } from './decode.ts'
import { createEmbed } from './embed.ts'
import { EmbeddingListSchema, EmbeddingRequestSchema } from './embedding-schema.ts'
import { chatCompletion, createChatEncoder } from './encode-chat.ts'
import { createResponseEncoder } from './encode-response.ts'
import { encodeShown, shownAnswer, shownText } from './ending.ts'
import { ErrorBodySchema } from './error-shape.ts'
import { endedResponse } from './response-object.ts'
import { ResponseEventSchema, ResponseRequestSchema, ResponseSchema, responseEvents } from './response-schema.ts'
import { cancelResponse, deleteResponse, retrieveResponse } from './retrieve-response.ts'
import { resolveTurns } from './turns.ts'
import { responseId, runIdOf } from './wire-ids.ts'

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

const embeddingErrors: readonly ErrorCode[] = [
  'invalid_request',
  'malformed_json',
  'unsupported_media_type',
  'body_too_large',
  'request_timeout',
  'agent_not_found',
  'rate_limited',
  ...modelErrors.filter((code) => code.startsWith('model_')),
]

const TAG = 'OpenAI'
const responseParams = { id: z.string().describe('The `id` of the response.') }
const json = (description: string, schema: z.ZodType) => ({ description, content: { 'application/json': { schema } } })
const DeletedResponseSchema = z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) })

export type DeletedResponse = z.infer<typeof DeletedResponseSchema>

export function createOpenAiRoutes(deps: OpenAiDeps): Route[] {
  const { engine, clock } = deps
  const answerRun = createAnswerRun(deps)
  const created = Math.floor(clock.now() / 1000)
  const modelOf = (id: string): Model => ({ id, object: 'model', created, owned_by: 'quarterdeck' })

  const named = async (owner: string, name: string): Promise<NamedSession> => ({
    name,
    record: await engine.sessions.findForStart(owner, name),
  })

  async function chat(request: Request, reply: Reply): Promise<void> {
    const { owner } = request.principal
    const { session, includeUsage, ...asked } = decodeChat(await jsonWithFiles(request), request.header('x-session-id'))
    const ask = { ...asked, field: 'messages', session: session === null ? null : await named(owner, session) }
    return answerRun(request, reply, ask, {
      encoder: (run) => encodeShown(createChatEncoder(run, { includeUsage }), shownText(ask)),
      whole: (run, answer, calls) => chatCompletion(run, shownAnswer(answer, shownText(ask)), calls),
    })
  }

  async function respond(request: Request, reply: Reply): Promise<void> {
    const { owner } = request.principal
    const asked = decodeResponse(await jsonWithFiles(request))
    const { agent, input, callerTools, format, instructions, stream, user, metadata } = asked
    const session = await sessionOf(owner, asked)
    const turns = await resolveTurns(engine, owner, input)
    const ask = {
      agent,
      turns: instructions === null ? turns : [{ role: 'instructions' as const, text: instructions }, ...turns],
      callerTools,
      format,
      field: 'input',
      session,
      props: { ...(user === null ? {} : { user }), ...(Object.keys(metadata).length === 0 ? {} : { metadata }) },
      stream,
    }
    return answerRun(request, reply, ask, {
      encoder: (run) => encodeShown(createResponseEncoder(run, asked), shownText(ask)),
      whole: (run, answer, calls) => endedResponse(run, asked, shownAnswer(answer, shownText(ask)), calls),
    })
  }

  async function retrieve(request: Request, reply: Reply): Promise<void> {
    const id = request.params.id ?? ''
    if (!['false', null].includes(request.query.get('stream'))) {
      throw queryProblem({ pointer: 'stream', detail: `Leave it out, or read GET /runs/${runIdOf(id)}/events.` })
    }
    reply.json(200, await retrieveResponse(engine, await responseRun(request, reply)))
  }

  async function responseRun({ principal, params }: Request, reply: Reply): Promise<RunRecord> {
    const run = await engine.runs.get(principal.owner, runIdOf(params.id ?? ''))
    reply.note({ session_id: run.sessionId, run_id: run.id })
    return run
  }

  async function cancel(request: Request, reply: Reply): Promise<void> {
    const run = await responseRun(request, reply)
    reply.json(200, await cancelResponse(engine, run))
  }

  async function remove(request: Request, reply: Reply): Promise<void> {
    const run = await responseRun(request, reply)
    await deleteResponse(engine, run)
    reply.json(200, { id: responseId(run.id), object: 'response', deleted: true } satisfies DeletedResponse)
  }

  /** Throws `run_not_found` when there is no such response. */
  async function sessionOf(
    owner: string,
    { conversation, previousResponseId }: ResponseRequest,
  ): Promise<NamedSession | null> {
    if (conversation !== null) return named(owner, conversation)
    if (previousResponseId === null) return null
    const { sessionId } = await engine.runs.get(owner, runIdOf(previousResponseId))
    const session = await engine.sessions.find(owner, sessionId)
    if (session === null) throw runNotFound(previousResponseId)
    return { name: session.alias ?? session.id, record: session }
  }

  const { get, post, del } = routeHeads('openai', 'user')
  const routes: Route[] = [
    {
      ...post,
      path: '/v1/chat/completions',
      body: 'files',
      summary: "Ask an agent, in the shape of OpenAI's chat completions",
      describe: () => ({
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
              messages: [
                { role: 'tool', tool_call_id: 'call_0192f3a1-7b2c-7def-8abc-0123456789ab', content: 'It is red.' },
              ],
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
      }),
      handle: chat,
    },
    {
      ...post,
      path: '/v1/responses',
      body: 'files',
      summary: "Ask an agent, in the shape of OpenAI's responses",
      describe: () => ({
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
      }),
      handle: respond,
    },
    {
      ...get,
      path: '/v1/responses/:id',
      summary: "A response as it stands, in OpenAI's shape",
      describe: () => ({
        tag: TAG,
        description:
          'While its run is at work, or waits for a person, its `status` is `in_progress`. `GET /runs/{id}/events` streams it.',
        params: responseParams,
        query: { stream: z.literal(false).optional().describe('A response cannot be streamed again.') },
        responses: { 200: json('The response.', ResponseSchema) },
        errors: ['invalid_request', 'run_not_found', 'storage_failed'],
      }),
      handle: retrieve,
    },
    {
      ...post,
      path: '/v1/responses/:id/cancel',
      body: 'none',
      summary: "Stop a response, in OpenAI's shape",
      describe: () => ({
        tag: TAG,
        description: 'Stops the run of the response. A response that has ended is returned as it is.',
        params: responseParams,
        responses: { 200: json('The response.', ResponseSchema) },
        errors: ['run_not_found', 'storage_full', 'storage_failed'],
      }),
      handle: cancel,
    },
    {
      ...del,
      path: '/v1/responses/:id',
      summary: "Delete a response, in OpenAI's shape",
      describe: () => ({
        tag: TAG,
        description:
          'Deletes the response with its session. If other responses belong to the same conversation it is 400: `DELETE /sessions/{id}` deletes all of it.',
        params: responseParams,
        responses: { 200: json('It is deleted.', DeletedResponseSchema) },
        errors: ['run_not_found', 'conflict', 'storage_full', 'storage_failed'],
      }),
      handle: remove,
    },
    {
      ...post,
      path: '/v1/embeddings',
      body: 'message',
      summary: "Texts as vectors, in the shape of OpenAI's embeddings",
      describe: () => ({
        tag: TAG,
        description:
          'Asks the embedding with which an agent searches its documents. Texts are embedded as passages are. What it costs is not part of `GET /usage`.',
        body: {
          schema: EmbeddingRequestSchema,
          examples: {
            text: { model: 'assistant', input: 'How many days of leave are there?' },
            texts: { model: 'text-embedding-3-small', input: ['One', 'Two'], encoding_format: 'base64' },
          },
        },
        responses: { 200: json('A vector for each text, in order.', EmbeddingListSchema) },
        errors: embeddingErrors,
      }),
      handle: createEmbed(deps),
    },
    {
      ...get,
      path: '/v1/models',
      summary: "The agents, in the shape of OpenAI's models",
      describe: () => ({
        tag: TAG,
        responses: { 200: json('All agents.', ModelListSchema) },
        errors: [],
      }),
      handle: async (_request, reply) =>
        reply.json(200, { object: 'list', data: engine.agents.list.map(({ name }) => modelOf(name)) }),
    },
    {
      ...get,
      path: '/v1/models/:id',
      summary: "One agent, in the shape of OpenAI's models",
      describe: () => ({
        tag: TAG,
        params: { id: z.string().describe("The agent's name.") },
        responses: { 200: json('The agent.', ModelSchema) },
        errors: ['agent_not_found'],
      }),
      handle: async (request, reply) => reply.json(200, modelOf(engine.agents.get(request.params.id ?? '').name)),
    },
  ]
  return routes.map((route) => ({ ...route, takesAnyKey: true }))
}
