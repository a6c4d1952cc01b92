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
  description: `As \`POST /\`. The header \`${SESSION_HEADER}\` names the session, whatever the body's \`threadId\` says; the events repeat the \`threadId\` of the body. A client with several conversations uses one runtime session for each.`,
  headers: {
    ...startHeaderSchemas,
    [SESSION_HEADER]: z.string().min(1).max(128).optional().meta({ description: 'The session.' }),
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
    204: { description: 'The reader of `Last-Event-ID` has seen all of the run.' },
  },
  errors: [...startErrors, 'file_too_large', 'too_many_files'],
}

export const describePing: RouteDescription = {
  tag: 'AgentCore',
  responses: {
    200: {
      description: 'It lives.',
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
