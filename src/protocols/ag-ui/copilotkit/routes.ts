// CopilotKit's runtime, so that its React UI uses this server as `runtimeUrl`. Its inputs and events are AG-UI's. It knows two
// transports: a route for each thing, and one route for all, which its `<CopilotKit>` uses by itself up to 1.69.

import { isRecord } from '../../../domain/is-record.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { type Reader, readerOf } from '../../shared/events/protocol-version.ts'
import { jsonWithFiles } from '../../shared/request/json-with-files.ts'
import { decodeRunAgentInput } from '../wire/decode-input.ts'
import { createRunDoor, type RunDoor, type RunDoorDeps } from '../wire/run-input.ts'
import { showThread, showUnknownThread } from '../wire/show-thread.ts'
import { decodeCall, decodeStop } from './decode.ts'
import {
  describeConnect,
  describeInfo,
  describeRun,
  describeSingle,
  describeStop,
  describeThreads,
} from './describe.ts'
import { enclosedRequest } from './enclosed-request.ts'
import { notStopped, stopped } from './encode.ts'
import { agentNamed, runtimeInfo } from './info.ts'
import { stopAsFinish } from './stop-as-finish.ts'
import { listThreads } from './threads.ts'

export interface CopilotKitRoutesDeps extends RunDoorDeps {
  /** Of this server. */
  version: string
}

export function createCopilotKitRoutes(deps: CopilotKitRoutesDeps): Route[] {
  const { engine, version, ...others } = deps
  const depsFor: Record<Reader, RunDoorDeps> = { '0.x': { ...others, engine: stopAsFinish(engine) }, '1.x': deps }
  const runDoorFor: Record<Reader, RunDoor> = {
    '0.x': createRunDoor(depsFor['0.x']),
    '1.x': createRunDoor(depsFor['1.x']),
  }
  const agentOf = (request: Request) => agentNamed(engine, request.params.name ?? '')

  const info = async (_request: Request, reply: Reply) => reply.json(200, runtimeInfo(engine, version))

  async function run(request: Request, reply: Reply): Promise<void> {
    const agent = agentOf(request)
    engine.agents.get(agent)
    const runDoor = runDoorFor[readerOf(versionIn(await jsonWithFiles(request)))]
    return runDoor(request, reply, agent)
  }

  async function connect(request: Request, reply: Reply): Promise<void> {
    engine.agents.get(agentOf(request))
    const { threadId, runId, reader: reads } = decodeRunAgentInput(await jsonWithFiles(request))
    const { owner } = request.principal
    const asked = { request, reply, threadId, runId, reads }
    const session = await engine.sessions.find(owner, threadId)
    if (session !== null) return showThread(depsFor[reads], asked, session)
    await engine.sessions.refuseForeign(owner, threadId)
    return showUnknownThread(deps, asked, null)
  }

  async function stop(request: Request, reply: Reply): Promise<void> {
    engine.agents.get(agentOf(request))
    const { owner } = request.principal
    const threadId = request.params.threadId ?? ''
    const { runId } = await decodeStop(request)
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
    if (call.method === 'info') return info(request, reply)
    const { agentId: name } = call.params
    const enclosed = (path: string, params: Record<string, string> = {}): Request =>
      enclosedRequest(request, {
        path: `/copilotkit/agent/${encodeURIComponent(name)}/${path}`,
        params: { name, ...params },
        body: call.body,
      })
    switch (call.method) {
      case 'agent/run':
        return run(enclosed('run'), reply)
      case 'agent/connect':
        return connect(enclosed('connect'), reply)
      case 'agent/stop': {
        const { threadId } = call.params
        return stop(enclosed(`stop/${encodeURIComponent(threadId)}`, { threadId }), reply)
      }
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
      handle: info,
    },
    {
      ...shared,
      method: 'POST',
      path: '/copilotkit/agent/:name/run',
      body: 'files',
      summary: 'CopilotKit: run an agent',
      describe: describeRun,
      handle: run,
    },
    {
      ...shared,
      method: 'POST',
      path: '/copilotkit/agent/:name/connect',
      body: 'files',
      summary: 'CopilotKit: show a thread and follow its active run',
      describe: describeConnect,
      handle: connect,
    },
    {
      ...shared,
      method: 'POST',
      path: '/copilotkit/agent/:name/stop/:threadId',
      body: 'control',
      summary: 'CopilotKit: stop the active run of a thread',
      describe: describeStop,
      handle: stop,
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

// Anything else is for the door to judge.
const versionIn = (body: unknown): string | undefined =>
  isRecord(body) && typeof body.protocolVersion === 'string' ? body.protocolVersion : undefined
