// The agent routes: take a message to a named agent, and answer with the whole answer or a stream of named events.

import { z } from 'zod'
import type { ErrorCode } from '../../domain/errors.ts'
import { answer } from '../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../http/route.ts'
import { failureOf, problemShapeWith, type StatusOverrides, streamProblem } from '../shared/answer/answer-failure.ts'
import { collectAnswer } from '../shared/answer/collect-answer.ts'
import { fileErrors, runErrors, startErrors } from '../shared/answer/error-lists.ts'
import { streamAnswer } from '../shared/answer/stream-answer.ts'
import { isOver } from '../shared/events/stream-events.ts'
import { startHeaderSchemas } from '../shared/request/start-headers.ts'
import { ChatFormSchema, ChatRequestSchema } from './decode.ts'
import { chatResponse, waitingView } from './encode.ts'
import { createStreamEncoder } from './encode-stream.ts'
import { ChatResponseSchema, streamEventSchemas, WaitingSchema } from './schema.ts'
import { type ChatDeps, startChat } from './start-chat.ts'

/** These routes answer 502 for every failure of a model. */
const statuses: StatusOverrides = {
  model_rate_limited: 502,
  model_unreachable: 502,
} satisfies Partial<Record<ErrorCode, number>>

export type AgentRoutesDeps = ChatDeps

const params = { name: z.string().meta({ description: 'Name of the agent.' }) }

const body = {
  schema: ChatRequestSchema,
  examples: {
    'a new session': { message: 'What is the weather in Berlin?' },
    'the next message': { message: 'And tomorrow?', session_id: '01J9ZQ3V6K8R2T4Y7B5N0M1C3D' },
    'with a file': {
      message: 'What does it say?',
      files: [{ content: 'SGVsbG8=', mime_type: 'text/plain', filename: 'note.txt' }],
    },
  },
}

const form = { schema: ChatFormSchema }

export function createAgentRoutes(deps: AgentRoutesDeps): Route[] {
  const { engine } = deps

  async function chat(request: Request, reply: Reply): Promise<void> {
    const { run, messageId, sessionId } = await startChat(deps, request, reply)
    reply.note({ session_id: run.sessionId, run_id: run.id })
    const answer = await collectAnswer(engine, { run }, request.signal)
    const failure = failureOf(answer, { session_id: sessionId, message_id: messageId })
    if (failure !== null) return reply.fail(failure, agentErrorShape)
    if (answer.outcome === 'waiting') return reply.json(202, waitingView(run, answer.approvalIds))
    reply.json(200, chatResponse(answer, messageId, sessionId))
  }

  async function stream(request: Request, reply: Reply): Promise<void> {
    reply.claimStream()
    const { run, after, messageId, sessionId } = await startChat(deps, request, reply)
    reply.note({ session_id: run.sessionId, run_id: run.id })
    // The reader has seen everything. An empty 200 would look like a stream that broke off.
    if (isOver(run, after)) return reply.empty(204)
    const { path, correlationId, signal, log } = request
    const encoder = createStreamEncoder({
      run,
      messageId,
      sessionId,
      problem: (error) => streamProblem(error, { path, correlationId }, statuses),
    })
    const opened = reply.sse()
    await streamAnswer(deps, run, after, { stream: opened, signal, log }, encoder)
    opened.end()
  }

  const shared = { method: 'POST', door: 'rest', role: 'user', body: 'files' } as const
  return [
    {
      ...shared,
      path: '/agent/:name/chat',
      summary: 'Send a message to an agent and wait for its answer',
      describe: () => ({
        tag: 'Agent',
        description:
          'Answers when the run has ended. If the client disconnects, the run is stopped after `limits.disconnect_grace`. A well-formed but unknown session id begins a new session with a new id.',
        params,
        headers: startHeaderSchemas,
        body,
        form,
        responses: {
          200: answer('The answer.', ChatResponseSchema),
          202: answer('The run waits for a person.', WaitingSchema),
        },
        errors: [...startErrors, ...fileErrors, ...runErrors],
      }),
      handle: chat,
    },
    {
      ...shared,
      path: '/agent/:name/chat/stream',
      summary: 'Send a message to an agent and read its answer as it is written',
      describe: () => ({
        tag: 'Agent',
        description:
          'Server-sent events with `event:` lines. The first is `stream_start`, the last is always `stream_end` or `error`. After a lost connection, send the request again with the header `Last-Event-ID`.',
        params,
        headers: startHeaderSchemas,
        body,
        form,
        responses: {
          200: {
            description: 'The answer as it is written.',
            content: {
              'text/event-stream': {
                schema: z.union(Object.values(streamEventSchemas)),
                example: { delta: 'It is sunny', message_id: '01J9ZQ4A7M2N8P5R1T6V3W9X0Y' },
                events: streamEventSchemas,
              },
            },
          },
          204: { description: 'With `Last-Event-ID`: the run has no further events.' },
        },
        errors: [...startErrors, ...fileErrors],
      }),
      handle: stream,
    },
  ]
}

export const agentErrorShape = problemShapeWith(statuses)
