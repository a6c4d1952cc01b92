// Describes the answers of the health routes for OpenAPI.

import { z } from 'zod'
import { exampleOf } from '../describe-answer.ts'
import type { RouteDescription } from '../route-description.ts'
import { HealthSchema } from './schema.ts'

const tag = 'Operations'

const healthContent = {
  'application/json': {
    schema: HealthSchema,
    example: exampleOf(HealthSchema),
  },
  'text/plain; charset=utf-8': { schema: z.string(), example: 'ok' },
}

export const describeHealth: RouteDescription = {
  tag,
  description:
    'If the server needs a token and the caller has none, the answer has only `status`. `Accept: text/plain` returns one word.',
  responses: {
    200: {
      description: 'The server works; `degraded` if the model or an MCP server cannot be reached.',
      content: healthContent,
    },
    503: { description: 'The server cannot store anything.', content: healthContent },
  },
  errors: [],
}

const readyContent = (ready: boolean) => ({
  'application/json': {
    schema: z.strictObject({
      ready: z.literal(ready),
      state: z.enum(['initializing', 'ready', 'running', 'shutting_down', 'stopped']).optional(),
    }),
    example: { ready, state: ready ? 'running' : 'shutting_down' },
  },
})

export const describeReady: RouteDescription = {
  tag,
  responses: {
    200: { description: 'The server accepts work.', content: readyContent(true) },
    503: { description: 'The server is starting, stopping, or cannot store anything.', content: readyContent(false) },
  },
  errors: [],
}

export const describeLive: RouteDescription = {
  tag,
  description: 'Answers 200 from the moment the port is open, also while the server starts, stops or has no store.',
  responses: {
    200: {
      description: 'The process answers.',
      content: { 'application/json': { schema: z.strictObject({ live: z.literal(true) }), example: { live: true } } },
    },
  },
  errors: [],
}
