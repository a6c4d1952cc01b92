// The contract that Amazon Bedrock AgentCore has for AG-UI agents, so that the same image runs there.

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
      summary: 'AgentCore: run the default agent. Takes an AG-UI RunAgentInput, answers with a stream of events',
      describe: describeInvocation,
      handle: invoke,
    },
    {
      method: 'GET',
      path: '/ping',
      body: 'none',
      door: 'ag-ui',
      role: 'public',
      // A draining server still works. The platform must not take it for dead.
      anytime: true,
      summary: 'AgentCore: whether the server is alive, and whether it is busy',
      describe: describePing,
      handle: async (_request, reply) => reply.json(200, ping()),
    },
  ]
}
