// The agent routes: take a message to a named agent, and answer with the whole answer or a stream of named events.

import type { ErrorCode } from '../../domain/errors.ts'
import type { Reply, Request, Route } from '../../http/route.ts'
import { failureOf, problemShapeWith, type StatusOverrides, streamProblem } from '../shared/answer/answer-failure.ts'
import { collectAnswer } from '../shared/answer/collect-answer.ts'
import { streamAnswer } from '../shared/answer/stream-answer.ts'
import { isOver } from '../shared/events/stream-events.ts'
import { describeChat, describeStream } from './describe.ts'
import { chatResponse, waitingView } from './encode.ts'
import { createStreamEncoder } from './encode-stream.ts'
import { type ChatDeps, startChat } from './start-chat.ts'

/** These routes answer 502 for every failure of a model. */
const statuses: StatusOverrides = {
  model_rate_limited: 502,
  model_unreachable: 502,
} satisfies Partial<Record<ErrorCode, number>>

export type AgentRoutesDeps = ChatDeps

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
      describe: describeChat,
      handle: chat,
    },
    {
      ...shared,
      path: '/agent/:name/chat/stream',
      summary: 'Send a message to an agent and read its answer as it is written',
      describe: describeStream,
      handle: stream,
    },
  ]
}

export const agentErrorShape = problemShapeWith(statuses)
