// Describes the answers of the health routes for OpenAPI.

import { z } from 'zod'
import type { RouteDescription } from '../route-description.ts'

const tag = 'Operations'

const CheckSchema = z.strictObject({
  status: z.enum(['up', 'down']),
  latency_ms: z.number().optional(),
  error: z.string().optional(),
})

const HealthSchema = z
  .strictObject({
    status: z.enum(['healthy', 'degraded', 'unhealthy']),
    version: z.string().optional(),
    uptime_seconds: z.int().optional(),
    agent_name: z.string().optional(),
    agent_ready: z.boolean().optional(),
    active_sessions: z.int().optional(),
    thread_count: z.int().optional(),
    checks: z.record(z.string(), CheckSchema).optional(),
    insecure: z.literal(true).optional(),
  })
  .meta({ id: 'Health' })

const healthContent = {
  'application/json': {
    schema: HealthSchema,
    example: {
      status: 'healthy',
      version: '0.1.0',
      uptime_seconds: 12,
      agent_name: 'assistant',
      agent_ready: true,
      active_sessions: 3,
      thread_count: 3,
      checks: { storage: { status: 'up', latency_ms: 1 }, model: { status: 'up', latency_ms: 84 } },
    },
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
