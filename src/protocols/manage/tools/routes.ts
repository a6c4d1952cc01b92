// Lists the tools that an agent can call.

import { z } from 'zod'
import type { Engine } from '../../../engine/engine.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { routeHeads } from '../../shared/route-heads.ts'

const ToolSchema = z
  .strictObject({
    name: z.string(),
    description: z.string(),
    execution_location: z.enum(['server', 'client']),
    parameters: z.record(z.string(), z.unknown()).describe('A JSON Schema.'),
    returns: z.record(z.string(), z.unknown()).nullable(),
    timeout_seconds: z.number(),
    effect: z.enum(['read', 'idempotent', 'once']),
    risk: z.enum(['low', 'high', 'critical']),
  })
  .meta({ id: 'Tool' })

export function createToolRoutes({ engine }: { engine: Engine }): Route[] {
  async function list(request: Request, reply: Reply): Promise<void> {
    const { name: agent } = engine.agents.get(request.query.get('agent'))
    const tools = await engine.agents.tools(agent, request.signal, request.principal.owner)
    reply.json(200, {
      agent,
      tools: tools.map((tool) => ({
        name: tool.name,
        description: tool.description,
        execution_location: tool.location === 'client' ? 'client' : 'server',
        parameters: tool.parameters,
        returns: tool.returns,
        timeout_seconds: tool.timeoutMs / 1_000,
        effect: tool.effect,
        risk: tool.risk,
      })),
    })
  }

  return [
    {
      ...routeHeads(null, 'user').get,
      path: '/tools',
      summary: 'List the tools of an agent',
      describe: () => ({
        tag: 'Tools',
        description:
          'Starts the MCP servers of the tools if necessary. The tools of a server that cannot be reached are left out.',
        query: { agent: z.string().optional().describe('Default: the default agent.') },
        responses: {
          200: {
            description: 'The tools of the agent.',
            content: {
              'application/json': {
                schema: z.strictObject({ agent: z.string(), tools: z.array(ToolSchema) }),
                example: {
                  agent: 'assistant',
                  tools: [
                    {
                      name: 'get_weather',
                      description: 'The weather in a city.',
                      execution_location: 'server',
                      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
                      returns: null,
                      timeout_seconds: 30,
                      effect: 'read',
                      risk: 'low',
                    },
                  ],
                },
              },
            },
          },
        },
        errors: ['agent_not_found'],
      }),
      handle: list,
    },
  ]
}
