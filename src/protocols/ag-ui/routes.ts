// AG-UI: takes a RunAgentInput and answers with events. `wire/run-input.ts` does the work.

import { type ErrorShape, problemShape } from '../../http/problem.ts'
import type { Reply, Request, Route } from '../../http/route.ts'
import { capabilitiesOf } from '../shared/capabilities.ts'
import { jsonWithFiles } from '../shared/request/body-with-files.ts'
import { askedBy } from '../shared/request/start-headers.ts'
import { describeAgentCapabilities, describeAgentRun, describeCapabilities, describeRun } from './describe.ts'
import { decodeRunAgentInput } from './wire/decode-input.ts'
import { type RunInputDeps, runInput } from './wire/run-input.ts'

export interface AgUiRoutesDeps extends RunInputDeps {
  /** Version of this server. */
  version: string
}

export function createAgUiRoutes(deps: AgUiRoutesDeps): Route[] {
  const { engine, version } = deps

  async function run(request: Request, reply: Reply, agent: string | null): Promise<void> {
    engine.agents.get(agent)
    const body = await jsonWithFiles(request)
    const asked = askedBy(request, body)
    const input = decodeRunAgentInput(body)
    return runInput(deps, { request, reply, agent, input, sessionName: input.threadId, asked, body })
  }

  async function capabilities(name: string | null, request: Request, reply: Reply): Promise<void> {
    const agent = engine.agents.get(name)
    reply.json(200, capabilitiesOf(agent, version, await engine.agents.tools(agent.name, request.signal)))
  }

  const shared = { door: 'ag-ui', role: 'user' } as const
  return [
    ...['/', '/awp'].map(
      (path): Route => ({
        ...shared,
        method: 'POST',
        path,
        body: 'files',
        summary: 'Run the default agent. Takes an AG-UI RunAgentInput, answers with a stream of events',
        describe: describeRun,
        handle: (request, reply) => run(request, reply, null),
      }),
    ),
    {
      ...shared,
      method: 'POST',
      path: '/agents/:name',
      body: 'files',
      summary: 'Run one agent. Takes an AG-UI RunAgentInput, answers with a stream of events',
      describe: describeAgentRun,
      handle: (request, reply) => run(request, reply, request.params.name ?? null),
    },
    {
      ...shared,
      method: 'GET',
      path: '/capabilities',
      body: 'none',
      summary: 'What the default agent can do, as AG-UI AgentCapabilities',
      describe: describeCapabilities,
      handle: (request, reply) => capabilities(null, request, reply),
    },
    {
      ...shared,
      method: 'GET',
      path: '/agents/:name/capabilities',
      body: 'none',
      summary: 'What one agent can do, as AG-UI AgentCapabilities',
      describe: describeAgentCapabilities,
      handle: (request, reply) => capabilities(request.params.name ?? null, request, reply),
    },
  ]
}

/**
 * A problem that repeats its detail as `message`, in first place. AG-UI clients show the body as plain text, and programs around them
 * look for `message`.
 */
export const agUiErrorShape: ErrorShape = (problem) => {
  const { message: _, ...rest } = problem
  return { ...problemShape(problem), body: { message: problem.detail, ...rest } }
}
