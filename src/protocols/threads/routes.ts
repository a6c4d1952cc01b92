// Chat and threads: take a message, answer with a stream of tokens and tool events, and show the history of a thread.

import { z } from 'zod'
import { isoTime } from '../../domain/clock.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import type { Engine } from '../../engine/engine.ts'
import { answer } from '../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../http/route.ts'
import { failingAs } from '../shared/answer/answer-failure.ts'
import { runErrors, startErrors } from '../shared/answer/error-lists.ts'
import { firstRun } from '../shared/answer/run-chain.ts'
import { listMessages } from '../shared/request/list-messages.ts'
import { listSessions } from '../shared/request/list-sessions.ts'
import { decodePage, linked, nextLink, older } from '../shared/request/page.ts'
import { clientIdOf } from '../shared/request/session-row.ts'
import { startHeaderSchemas } from '../shared/request/start-headers.ts'
import { routeHeads } from '../shared/route-heads.ts'
import { answerChat, type ThreadRoutesDeps } from './answer-chat.ts'
import { historyMessages, requestMetadata } from './chat-message.ts'
import { decodeToolResult } from './decode.ts'
import { threadErrorShape } from './error-shape.ts'
import {
  ThreadAnswerSchema,
  ThreadChatSchema,
  ThreadEventSchema,
  ThreadListSchema,
  ThreadSchema,
  ToolResultSchema,
  WaitingSchema,
} from './schema.ts'

const THREADS = { max: 1_000, fallback: 100 }
const MESSAGES = { max: 1_000, fallback: 1_000 }
const tag = 'Chat and threads'
const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const ReceivedSchema = z.strictObject({ status: z.literal('received') }).meta({ example: { status: 'received' } })
const params = { id: z.string().describe('UUID, ULID, or the name that its client chose.') }

export function createThreadRoutes(deps: ThreadRoutesDeps): Route[] {
  const { get, post, del } = routeHeads('threads', 'user')
  const own = (handle: typeof answerChat) =>
    failingAs(threadErrorShape, (request, reply) => handle(deps, request, reply))
  return [
    {
      ...post,
      path: '/chat',
      body: 'message',
      summary: 'Send a message, read the answer as it is written',
      describe: () => ({
        tag,
        description:
          'Sends a message. The answer is a stream of events (`data:` and `id:`, no `event:` line); the last event is `message_complete` or `error`. With `stream: false` the answer is one object. The client runs the tools of type `client` from the agent’s file: it answers each `tool_execution_request` at `POST /tool_result` while the stream stays open. Without `thread_id` a new thread begins. `metadata` is merged key by key into the metadata of the thread.',
        headers: startHeaderSchemas,
        body: {
          schema: ThreadChatSchema,
          examples: {
            first: { message: 'Hello!', stream: true },
            next: { message: 'And tomorrow?', thread_id: id, stream: false, metadata: { page: 'start' } },
          },
        },
        responses: {
          200: {
            description: 'The answer.',
            content: {
              'text/event-stream': {
                schema: ThreadEventSchema,
                example: { event: 'token', thread_id: id, timestamp: '2026-11-15T09:00:02.125Z', token: 'Hello' },
              },
              ...answer('', ThreadAnswerSchema).content,
            },
          },
          202: answer(
            'With `stream: false`: the run waits for a person, or for the client to run `tool_executions`. The thread has the rest of the answer.',
            WaitingSchema,
          ),
          204: { description: 'With `Last-Event-ID`: the run has no further events.' },
        },
        errors: [...startErrors, 'session_expired', ...runErrors],
      }),
      handle: own(answerChat),
    },
    {
      ...get,
      path: '/threads',
      summary: 'The threads of the caller',
      describe: () => ({
        tag,
        description: "The caller's threads, newest activity first.",
        query: {
          limit: z.int().min(1).max(1_000).default(100),
          before: z
            .string()
            .optional()
            .describe('The `thread_id` of the last thread of the previous page, or `before` from its Link header.'),
        },
        responses: { 200: linked(answer('A page of threads.', ThreadListSchema)) },
        errors: ['invalid_request'],
      }),
      handle: own(list),
    },
    {
      ...get,
      path: '/threads/:id',
      summary: 'A thread and its messages',
      describe: () => ({
        tag,
        description: 'A thread and its newest messages, oldest first.',
        params,
        query: {
          limit: z.int().min(1).max(1_000).default(1_000),
          before: z.string().optional().describe('Only messages before this one; the Link header contains it.'),
        },
        responses: { 200: linked(answer('The thread.', ThreadSchema), older('messages')) },
        errors: ['invalid_request', 'malformed_id', 'session_not_found', 'session_expired'],
      }),
      handle: own(show),
    },
    {
      ...del,
      path: '/threads/:id',
      summary: 'Delete a thread and everything in it',
      describe: () => ({
        tag,
        description: 'Stops the active run and deletes the thread with everything in it.',
        params,
        responses: { 204: { description: 'The thread is deleted.' } },
        errors: ['malformed_id', 'session_not_found'],
      }),
      handle: own(remove),
    },
    {
      ...post,
      path: '/tool_result',
      body: 'message',
      summary: 'Send the result of a client tool',
      describe: () => ({
        tag,
        description:
          'The result of a `tool_execution_request`: either `result` (any JSON) or `error`; the other is left out or null. The stream that asked continues with it. The first answer counts. After the timeout of the tool it is too late.',
        body: {
          schema: ToolResultSchema,
          examples: {
            result: { execution_id: id, result: { degrees: 21 }, execution_time_ms: 120 },
            error: { execution_id: id, error: 'No such city.', execution_time_ms: 80 },
          },
        },
        responses: { 200: answer('Received.', ReceivedSchema) },
        errors: [
          'invalid_request',
          'malformed_json',
          'unsupported_media_type',
          'body_too_large',
          'request_timeout',
          'rate_limited',
          'tool_call_not_found',
          'tool_call_answered',
          'tool_call_expired',
          'storage_full',
          'storage_failed',
          'shutting_down',
        ],
      }),
      handle: own(toolResult),
    },
  ]
}

async function list({ engine }: ThreadRoutesDeps, request: Request, reply: Reply): Promise<void> {
  const page = decodePage(request, THREADS)
  const { sessions, next } = await listSessions(engine, { owner: request.principal.owner }, page)
  const threads = sessions.map((session) => ({
    thread_id: clientIdOf(session),
    message_count: session.messageCount,
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.lastActivity),
  }))
  reply.json(200, { threads }, nextLink('/threads', request.query, next))
}

async function show({ engine }: ThreadRoutesDeps, request: Request, reply: Reply): Promise<void> {
  const page = decodePage(request, MESSAGES)
  const session = await engine.sessions.getOpen(request.principal.owner, request.params.id ?? '')
  reply.note({ session_id: session.id })
  const { messages, next } = await listMessages(engine.messages, session.id, page, reply)
  const body = {
    thread_id: clientIdOf(session),
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.lastActivity),
    message_history: historyMessages(messages, await metadataByRun(engine, session.owner, messages)),
    metadata: session.metadata,
  }
  const path = `/threads/${encodeURIComponent(clientIdOf(session))}`
  await reply.jsonPieces(200, body, nextLink(path, request.query, next))
}

/** The request metadata of each run. If a page begins inside a chain, its user message is on another page. */
async function metadataByRun(engine: Engine, owner: string, messages: readonly StoredMessage[]) {
  const found = new Map<string, Record<string, unknown>>()
  let asked: Record<string, unknown> | null = null
  for (const { role, runId, metadata = {} } of messages) {
    if (role === 'user') asked = metadata
    // A run that continues after a client tool has no user message.
    else asked ??= requestMetadata(await firstRun(engine, await engine.runs.get(owner, runId)))
    found.set(runId, asked)
  }
  return found
}

async function remove({ engine }: ThreadRoutesDeps, request: Request, reply: Reply): Promise<void> {
  // A thread that has expired can still be deleted.
  const session = await engine.sessions.get(request.principal.owner, request.params.id ?? '')
  reply.note({ session_id: session.id })
  await engine.sessions.remove(session)
  reply.empty(204)
}

async function toolResult({ engine }: ThreadRoutesDeps, request: Request, reply: Reply): Promise<void> {
  const { executionId, content, isError, durationMs } = decodeToolResult(await request.json())
  const run = await engine.waits.answerClientCall(
    request.principal.owner,
    executionId,
    { content, isError, durationMs },
    request.correlationId,
  )
  reply.note({ session_id: run.sessionId, run_id: run.id })
  reply.json(200, { status: 'received' })
}
