// CopilotKit's runtime: its React UI uses this server as `runtimeUrl`. Inputs and events are AG-UI's. There are two transports: a
// route for each method, and a single route for all methods, which `<CopilotKit>` uses by default up to 1.69.

import { z } from 'zod'
import { unreachable } from '../../../domain/unreachable.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { startErrors } from '../../shared/answer/error-lists.ts'
import { eventStream, exampleInput, nothingMore, runInputBody } from '../../shared/events/describe-events.ts'
import type { Reader } from '../../shared/events/encode-events.ts'
import { jsonWithFiles } from '../../shared/request/body-with-files.ts'
import { askedBy, startHeaderSchemas } from '../../shared/request/start-headers.ts'
import { validBody } from '../../shared/request/validate.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import type { AgUiRoutesDeps } from '../routes.ts'
import { decodeRunAgentInput } from '../wire/decode-input.ts'
import { runInput } from '../wire/run-input.ts'
import { showThread, showUnknownThread } from '../wire/show-thread.ts'
import { agentNamed, followFor, listThreads, notStopped, runtimeInfo, stopped, withoutCall } from './encode.ts'
import { CallSchema, RuntimeInfoSchema, StopAnswerSchema, StopSchema, ThreadListSchema } from './schema.ts'

const tag = 'CopilotKit'
const params = { name: z.string().describe('Name of the agent; `default` is the default agent.') }
const errors = [...startErrors, 'file_too_large', 'too_many_files', 'forbidden'] as const

export function createCopilotKitRoutes(deps: AgUiRoutesDeps): Route[] {
  const { engine, version } = deps
  const shownTo = (reader: Reader) => ({ follow: followFor(engine.runs.follow, reader), showOutcome: withoutCall })

  const info = (reply: Reply): void => reply.json(200, runtimeInfo(engine, version))

  /** The agent that a client calls `name`. Throws `agent_not_found`. */
  function agentOf(name: string): string | null {
    const agent = agentNamed(engine, name)
    engine.agents.get(agent)
    return agent
  }

  async function run({ request, reply, name, body }: Call): Promise<void> {
    const agent = agentOf(name)
    // Both transports send the same request, so a key counts for both.
    const path = `/copilotkit/agent/${encodeURIComponent(name)}/run`
    const sent = await body()
    const asked = askedBy(request, sent, path)
    const input = decodeRunAgentInput(sent)
    return runInput(deps, {
      request,
      reply,
      agent,
      input,
      sessionName: input.threadId,
      asked,
      body: sent,
      ...shownTo(input.reader),
    })
  }

  async function connect({ request, reply, name, body }: Call): Promise<void> {
    agentOf(name)
    const { threadId, runId, reader: reads } = decodeRunAgentInput(await body())
    const asked = { request, reply, threadId, runId, reads, ...shownTo(reads) }
    const session = await engine.sessions.findForStart(request.principal.owner, threadId)
    return session === null ? showUnknownThread(deps, asked, null) : showThread(deps, asked, session)
  }

  async function stop({ request, reply, name, body }: Call, threadId: string): Promise<void> {
    agentOf(name)
    const { owner } = request.principal
    const runId = decodeStop(await body())
    const session = await engine.sessions.find(owner, threadId)
    if (session !== null) reply.note({ session_id: session.id })
    const open = session === null ? [] : await engine.runs.open(session.id)
    const wanted = runId === null ? open[0] : open.find((one) => one.wireId === runId)
    if (wanted === undefined) return reply.json(200, notStopped(threadId, runId))
    reply.note({ session_id: wanted.sessionId, run_id: wanted.id })
    await engine.runs.cancel(wanted, owner)
    reply.json(200, stopped)
  }

  async function single(request: Request, reply: Reply): Promise<void> {
    const call = decodeCall(await jsonWithFiles(request))
    if (call.method === 'info') return info(reply)
    const decoded = { request, reply, name: call.params.agentId, body: async () => call.body }
    switch (call.method) {
      case 'agent/run':
        return run(decoded)
      case 'agent/connect':
        return connect(decoded)
      case 'agent/stop':
        return stop(decoded, call.params.threadId)
      default:
        return unreachable(call)
    }
  }

  const { get, post } = routeHeads('ag-ui', 'user')
  return [
    {
      ...get,
      path: '/copilotkit/info',
      summary: 'CopilotKit: the agents and what they can do',
      describe: () => ({
        tag,
        responses: {
          200: { description: 'The agents.', content: { 'application/json': { schema: RuntimeInfoSchema } } },
        },
        errors: [],
      }),
      handle: async (_request, reply) => info(reply),
    },
    {
      ...post,
      path: '/copilotkit/agent/:name/run',
      body: 'files',
      summary: 'CopilotKit: run an agent',
      describe: () => ({
        tag,
        description: 'Like `POST /agents/{name}` of AG-UI.',
        params,
        headers: startHeaderSchemas,
        body: runInputBody,
        responses: { 200: eventStream('The events of the run.'), 204: nothingMore },
        errors,
      }),
      handle: (request, reply) => run(callOf(request, reply)),
    },
    {
      ...post,
      path: '/copilotkit/agent/:name/connect',
      body: 'files',
      summary: 'CopilotKit: show a thread and follow its active run',
      describe: () => ({
        tag,
        description: 'Starts no run. Shows the thread, then its active run from its beginning to its end.',
        params,
        body: runInputBody,
        responses: { 200: eventStream('The thread, then the events of its active run.') },
        errors,
      }),
      handle: (request, reply) => connect(callOf(request, reply)),
    },
    {
      ...post,
      path: '/copilotkit/agent/:name/stop/:threadId',
      summary: 'CopilotKit: stop the active run of a thread',
      describe: () => ({
        tag,
        description: 'Without `runId` it stops the active run.',
        params: { ...params, threadId: z.string() },
        body: { schema: StopSchema.optional(), examples: { 'one run': { runId: 'run-1' } } },
        responses: { 200: answer('Whether a run was stopped.', StopAnswerSchema) },
        errors,
      }),
      handle: (request, reply) =>
        stop({ ...callOf(request, reply), body: () => readStopBody(request) }, request.params.threadId ?? ''),
    },
    {
      ...get,
      path: '/copilotkit/threads',
      summary: 'CopilotKit: the threads of the caller',
      describe: () => ({
        tag,
        description: 'Newest first. The list includes threads that other protocols began.',
        query: {
          agentId: z.string().optional().describe('Only threads of this agent; `default` is the default agent.'),
          limit: z.string().optional().describe('1 to 200; default 50.'),
          cursor: z.string().optional().describe('The `nextCursor` of the previous page.'),
          includeArchived: z.string().optional().describe('Has no effect, because threads are never archived.'),
        },
        responses: { 200: answer('The threads.', ThreadListSchema) },
        errors: ['invalid_request', 'agent_not_found'],
      }),
      handle: async (request, reply) => reply.json(200, await listThreads(engine, request)),
    },
    {
      ...post,
      path: '/copilotkit',
      body: 'files',
      summary: 'CopilotKit: info, run, connect and stop through one route',
      describe: () => ({
        tag,
        description: 'Answers like the route of that method.',
        headers: startHeaderSchemas,
        body: {
          schema: CallSchema.meta({ id: 'CopilotKitCall' }),
          examples: {
            info: { method: 'info' },
            run: { method: 'agent/run', params: { agentId: 'default' }, body: exampleInput },
            stop: { method: 'agent/stop', params: { agentId: 'default', threadId: 'thread-1' } },
          },
        },
        responses: {
          200: {
            description: 'The answer to the call.',
            content: {
              ...eventStream('').content,
              'application/json': { schema: z.union([RuntimeInfoSchema, StopAnswerSchema]) },
            },
          },
          204: nothingMore,
        },
        errors,
      }),
      handle: single,
    },
  ]
}

/** One method of the runtime, from either transport. */
interface Call {
  request: Request
  reply: Reply
  /** The agent, as the client calls it. */
  name: string
  /** Read late: a request for an unknown agent is refused before its body is read. */
  body: () => Promise<unknown>
}

const callOf = (request: Request, reply: Reply): Call => ({
  request,
  reply,
  name: request.params.name ?? '',
  body: () => jsonWithFiles(request),
})

/** The body of a stop request, which its client leaves out to stop whichever run is active. */
const readStopBody = async (request: Request): Promise<unknown> =>
  request.header('transfer-encoding') !== undefined || Number(request.header('content-length') ?? 0) > 0
    ? request.json()
    : undefined

/** The id of the run to stop; null is whichever run is active. */
function decodeStop(body: unknown): string | null {
  if (body === undefined) return null
  const { runId } = validBody(StopSchema, body, 'Send a stop request without a body, or with { "runId": … }.')
  return runId ?? null
}

/** Decodes a request to the single route. */
const decodeCall = (body: unknown) =>
  validBody(
    CallSchema,
    body,
    'This is not a call of CopilotKit 1.50 or later. Send { "method", "params", "body" } with the method info, agent/run, ' +
      'agent/connect or agent/stop.',
  )
