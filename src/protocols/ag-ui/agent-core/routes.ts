// The contract that Amazon Bedrock AgentCore has for AG-UI agents, so that the same image runs there.

import { EventSchema, RunAgentInputSchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { startErrors } from '../../shared/answer/error-lists.ts'
import { startHeaderSchemas } from '../../shared/request/start-headers.ts'
import { type RunInputDeps, runInput } from '../wire/run-input.ts'
import { decodeInvocation, SESSION_HEADER } from './decode.ts'
import { createPing, PingSchema } from './ping.ts'

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
      describe: {
        tag: 'AgentCore',
        description: `Like \`POST /\`. The header \`${SESSION_HEADER}\` names the session and overrides the \`threadId\` of the body; the events repeat the \`threadId\` of the body. A client with several conversations uses one runtime session for each.`,
        headers: {
          ...startHeaderSchemas,
          [SESSION_HEADER]: z.string().min(1).max(128).optional().meta({ description: 'Id of the session.' }),
        },
        body: {
          schema: RunAgentInputSchema,
          examples: {
            'a first message': {
              threadId: 'thread-1',
              runId: 'run-1',
              messages: [{ id: 'message-1', role: 'user', content: 'Hello!' }],
            },
          },
        },
        responses: {
          200: {
            description: 'AG-UI events.',
            content: { 'text/event-stream': { schema: EventSchema } },
          },
          204: { description: 'With `Last-Event-ID`: the run has no further events.' },
        },
        errors: [...startErrors, 'file_too_large', 'too_many_files'],
      },
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
      describe: {
        tag: 'AgentCore',
        responses: {
          200: {
            description: 'The server is alive.',
            content: {
              'application/json': {
                schema: PingSchema,
                example: { status: 'Healthy', time_of_last_update: 1_800_000_000 },
              },
            },
          },
        },
        errors: [],
      },
      handle: async (_request, reply) => reply.json(200, ping()),
    },
  ]
}
