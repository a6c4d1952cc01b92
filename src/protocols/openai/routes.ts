// OpenAI's API for our agents: chat completions, responses, models. An agent is a model here.

import { runNotFound } from '../../domain/errors.ts'
import type { Reply, Request, Route } from '../../http/route.ts'
import { jsonWithFiles } from '../shared/request/body-with-files.ts'
import { queryProblem } from '../shared/request/page.ts'
import { createAnswerRun, type NamedSession, type OpenAiDeps } from './answer-run.ts'
import { decodeChat } from './decode-chat.ts'
import { decodeResponse, type ResponseRequest } from './decode-response.ts'
import {
  type DeletedResponse,
  describeCancel,
  describeChat,
  describeDelete,
  describeModel,
  describeModels,
  describeRespond,
  describeRetrieve,
  type Model,
} from './describe.ts'
import { chatCompletion, createChatEncoder } from './encode-chat.ts'
import { createResponseEncoder } from './encode-response.ts'
import { encodeShown, shownAnswer, shownText } from './ending.ts'
import { wholeResponse } from './response-object.ts'
import { cancelResponse, deleteResponse, retrieveResponse } from './retrieve-response.ts'
import { resolveTurns } from './turns.ts'
import { responseId, runIdOf } from './wire-ids.ts'

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
      whole: (run, answer, calls) => wholeResponse(run, asked, shownAnswer(answer, shownText(ask)), calls),
    })
  }

  async function retrieve(request: Request, reply: Reply): Promise<void> {
    const id = request.params.id ?? ''
    if (!['false', null].includes(request.query.get('stream'))) {
      throw queryProblem({ pointer: 'stream', detail: `Leave it out, or read GET /runs/${runIdOf(id)}/events.` })
    }
    const run = await responseRun(request)
    reply.note({ session_id: run.sessionId, run_id: run.id })
    reply.json(200, await retrieveResponse(engine, run))
  }

  const responseRun = (request: Request) => engine.runs.get(request.principal.owner, runIdOf(request.params.id ?? ''))

  async function cancel(request: Request, reply: Reply): Promise<void> {
    const run = await responseRun(request)
    reply.note({ session_id: run.sessionId, run_id: run.id })
    reply.json(200, await cancelResponse(engine, run))
  }

  async function remove(request: Request, reply: Reply): Promise<void> {
    const run = await responseRun(request)
    reply.note({ session_id: run.sessionId, run_id: run.id })
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

  const shared = { door: 'openai', role: 'user', takesAnyKey: true } as const
  return [
    {
      ...shared,
      method: 'POST',
      path: '/v1/chat/completions',
      body: 'files',
      summary: "Ask an agent, in the shape of OpenAI's chat completions",
      describe: describeChat,
      handle: chat,
    },
    {
      ...shared,
      method: 'POST',
      path: '/v1/responses',
      body: 'files',
      summary: "Ask an agent, in the shape of OpenAI's responses",
      describe: describeRespond,
      handle: respond,
    },
    {
      ...shared,
      method: 'GET',
      path: '/v1/responses/:id',
      body: 'none',
      summary: "A response as it stands, in OpenAI's shape",
      describe: describeRetrieve,
      handle: retrieve,
    },
    {
      ...shared,
      method: 'POST',
      path: '/v1/responses/:id/cancel',
      body: 'none',
      summary: "Stop a response, in OpenAI's shape",
      describe: describeCancel,
      handle: cancel,
    },
    {
      ...shared,
      method: 'DELETE',
      path: '/v1/responses/:id',
      body: 'none',
      summary: "Delete a response, in OpenAI's shape",
      describe: describeDelete,
      handle: remove,
    },
    {
      ...shared,
      method: 'GET',
      path: '/v1/models',
      body: 'none',
      summary: "The agents, in the shape of OpenAI's models",
      describe: describeModels,
      handle: async (_request, reply) =>
        reply.json(200, { object: 'list', data: engine.agents.list.map(({ name }) => modelOf(name)) }),
    },
    {
      ...shared,
      method: 'GET',
      path: '/v1/models/:id',
      body: 'none',
      summary: "One agent, in the shape of OpenAI's models",
      describe: describeModel,
      handle: async (request, reply) => reply.json(200, modelOf(engine.agents.get(request.params.id ?? '').name)),
    },
  ]
}
