// What the routes of AgentCore take and answer, for the OpenAPI document.

import { EventSchema, RunAgentInputSchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import type { RouteDescription } from '../../../http/route-description.ts'
import { startErrors } from '../../shared/answer/error-lists.ts'
import { startHeaderSchemas } from '../../shared/request/start-headers.ts'
import { SESSION_HEADER } from './decode.ts'
import { PingSchema } from './ping.ts'

export const describeInvocation: RouteDescription = {
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
}

export const describePing: RouteDescription = {
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
}
