// AG-UI: takes a RunAgentInput and answers with events. `wire/run-input.ts` does the work.

import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import type { Reply, Request, Route, RouteDescription } from '../../http/route.ts'
import { startErrors } from '../shared/answer/error-lists.ts'
import { capabilitiesOf } from '../shared/capabilities.ts'
import { eventStream, nothingMore, runInputBody } from '../shared/events/describe-events.ts'
import { jsonWithFiles } from '../shared/request/body-with-files.ts'
import { askedBy, startHeaderSchemas } from '../shared/request/start-headers.ts'
import { routeHeads } from '../shared/route-heads.ts'
import { decodeRunAgentInput } from './wire/decode-input.ts'
import { type RunInputDeps, runInput } from './wire/run-input.ts'

export interface AgUiRoutesDeps extends RunInputDeps {
  /** Version of this server. */
  version: string
}

const tag = 'AG-UI'
const params = { name: z.string().describe('Name of the agent.') }

export const describeRun = (): RouteDescription => ({
  tag,
  description:
    'New messages start a run. Without new messages the answer shows the thread. A known `runId` attaches to its run. The last event is always RUN_FINISHED or RUN_ERROR. After a lost connection, send the request again with the header `Last-Event-ID`.',
  headers: startHeaderSchemas,
  body: runInputBody,
  responses: { 200: eventStream('The events of the run.'), 204: nothingMore },
  errors: [...startErrors, 'file_too_large', 'too_many_files', 'forbidden'],
})

const describeCapabilities = (): RouteDescription => ({
  tag,
  responses: {
    200: {
      description: 'The capabilities of the agent.',
      content: {
        'application/json': {
          schema: AgentCapabilitiesSchema.meta({ id: 'AgentCapabilities' }),
          example: { identity: { name: 'assistant', type: 'quarterdeck' }, transport: { streaming: true } },
        },
      },
    },
  },
  errors: [],
})

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
    reply.json(
      200,
      capabilitiesOf(agent, version, await engine.agents.tools(agent.name, request.signal, request.principal.owner)),
    )
  }

  const { get, post } = routeHeads('ag-ui', 'user')
  return [
    ...['/', '/awp'].map(
      (path): Route => ({
        ...post,
        path,
        body: 'files',
        summary: 'Run the default agent. Takes an AG-UI RunAgentInput, answers with a stream of events',
        describe: describeRun,
        handle: (request, reply) => run(request, reply, null),
      }),
    ),
    {
      ...post,
      path: '/agents/:name',
      body: 'files',
      summary: 'Run one agent. Takes an AG-UI RunAgentInput, answers with a stream of events',
      describe: () => ({ ...describeRun(), params }),
      handle: (request, reply) => run(request, reply, request.params.name ?? null),
    },
    {
      ...get,
      path: '/capabilities',
      summary: 'What the default agent can do, as AG-UI AgentCapabilities',
      describe: describeCapabilities,
      handle: (request, reply) => capabilities(null, request, reply),
    },
    {
      ...get,
      path: '/agents/:name/capabilities',
      summary: 'What one agent can do, as AG-UI AgentCapabilities',
      describe: () => ({
        ...describeCapabilities(),
        params,
        errors: ['agent_not_found'],
      }),
      handle: (request, reply) => capabilities(request.params.name ?? null, request, reply),
    },
  ]
}
