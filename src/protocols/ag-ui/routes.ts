// AG-UI: a RunAgentInput in, events out. What happens in between is in `ag-ui-wire/run-door.ts`.

import type { Reply, Request, Route } from '../../http/route.ts'
import { describeAgentCapabilities, describeAgentRun, describeCapabilities, describeRun } from './describe.ts'
import { capabilitiesOf } from './wire/capabilities.ts'
import { createRunDoor, type RunDoorDeps } from './wire/run-input.ts'

export interface AgUiRoutesDeps extends RunDoorDeps {
  /** Of this server. */
  version: string
}

export function createAgUiRoutes(deps: AgUiRoutesDeps): Route[] {
  const { engine, version } = deps
  const run = createRunDoor(deps)
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
        summary: 'Run the default agent: an AG-UI RunAgentInput in, a stream of events out',
        describe: describeRun,
        handle: (request, reply) => run(request, reply, null),
      }),
    ),
    {
      ...shared,
      method: 'POST',
      path: '/agents/:name',
      body: 'files',
      summary: 'Run one agent: an AG-UI RunAgentInput in, a stream of events out',
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
