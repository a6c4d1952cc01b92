// CopilotKit's runtime: its React UI uses this server as `runtimeUrl`. Inputs and events are AG-UI's. There are two transports: a
// route for each method, and a single route for all methods, which `<CopilotKit>` uses by default up to 1.69.

import { unreachable } from '../../../domain/unreachable.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { Reader } from '../../shared/events/encode-events.ts'
import { jsonWithFiles } from '../../shared/request/body-with-files.ts'
import { askedBy } from '../../shared/request/start-headers.ts'
import { decodeRunAgentInput } from '../wire/decode-input.ts'
import { type RunInputDeps, runInput } from '../wire/run-input.ts'
import { showThread, showUnknownThread } from '../wire/show-thread.ts'
import { decodeCall, decodeStop, readStopBody } from './decode.ts'
import {
  describeConnect,
  describeInfo,
  describeRun,
  describeSingle,
  describeStop,
  describeThreads,
} from './describe.ts'
import { agentNamed, followFor, notStopped, runtimeInfo, stopped, withoutCall } from './encode.ts'
import { listThreads } from './threads.ts'

export interface CopilotKitRoutesDeps extends RunInputDeps {
  /** Version of this server. */
  version: string
}

export function createCopilotKitRoutes(deps: CopilotKitRoutesDeps): Route[] {
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

  const shared = { door: 'ag-ui', role: 'user' } as const
  return [
    {
      ...shared,
      method: 'GET',
      path: '/copilotkit/info',
      body: 'none',
      summary: 'CopilotKit: the agents and what they can do',
      describe: describeInfo,
      handle: async (_request, reply) => info(reply),
    },
    {
      ...shared,
      method: 'POST',
      path: '/copilotkit/agent/:name/run',
      body: 'files',
      summary: 'CopilotKit: run an agent',
      describe: describeRun,
      handle: (request, reply) => run(callOf(request, reply)),
    },
    {
      ...shared,
      method: 'POST',
      path: '/copilotkit/agent/:name/connect',
      body: 'files',
      summary: 'CopilotKit: show a thread and follow its active run',
      describe: describeConnect,
      handle: (request, reply) => connect(callOf(request, reply)),
    },
    {
      ...shared,
      method: 'POST',
      path: '/copilotkit/agent/:name/stop/:threadId',
      body: 'control',
      summary: 'CopilotKit: stop the active run of a thread',
      describe: describeStop,
      handle: (request, reply) =>
        stop({ ...callOf(request, reply), body: () => readStopBody(request) }, request.params.threadId ?? ''),
    },
    {
      ...shared,
      method: 'GET',
      path: '/copilotkit/threads',
      body: 'none',
      summary: 'CopilotKit: the threads of the caller',
      describe: describeThreads,
      handle: async (request, reply) => reply.json(200, await listThreads(engine, request)),
    },
    {
      ...shared,
      method: 'POST',
      path: '/copilotkit',
      body: 'files',
      summary: 'CopilotKit: info, run, connect and stop through one route',
      describe: describeSingle,
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
