// The runtime contract of Amazon Bedrock AgentCore for AG-UI agents: the same image runs there.

import type { Reply, Request, Route } from '../../../http/route.ts'
import { type RunInputDeps, runInput } from '../wire/run-input.ts'
import { decodeInvocation } from './decode.ts'
import { describeInvocation, describePing } from './describe.ts'
import { createPing } from './ping.ts'

export function createAgentCoreRoutes(deps: RunInputDeps): Route[] {
  const { engine, clock } = deps
  const ping = createPing(engine, clock)

  async function invoke(request: Request, reply: Reply): Promise<void> {
    return runInput(deps, { request, reply, agent: null, ...(await decodeInvocation(request)) })
  }

  return [
    {
      method: 'POST',
      path: '/invocations',
      body: 'files',
      door: 'ag-ui',
      role: 'user',
      summary: 'Run the default agent as the AgentCore runtime does: an AG-UI RunAgentInput in, a stream of events out',
      describe: describeInvocation,
      handle: invoke,
    },
    {
      method: 'GET',
      path: '/ping',
      body: 'none',
      door: 'ag-ui',
      role: 'public',
      // A server that drains is still busy, and must not be taken for a dead one.
      anytime: true,
      summary: 'Whether the server lives, and whether it works',
      describe: describePing,
      handle: async (_request, reply) => reply.json(200, ping()),
    },
  ]
}
