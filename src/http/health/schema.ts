import { z } from 'zod'

const CheckSchema = z.strictObject({
  status: z.enum(['up', 'down']),
  latency_ms: z.number().exactOptional(),
  error: z.string().exactOptional(),
})

export type CheckResult = z.output<typeof CheckSchema>

export const HealthSchema = z
  .strictObject({
    status: z.enum(['healthy', 'degraded', 'unhealthy']),
    version: z.string().exactOptional(),
    uptime_seconds: z.int().exactOptional(),
    agent_name: z.string().exactOptional(),
    agent_ready: z.boolean().exactOptional(),
    active_sessions: z.int().exactOptional(),
    thread_count: z.int().exactOptional(),
    checks: z.record(z.string(), CheckSchema).exactOptional(),
    insecure: z.literal(true).exactOptional(),
    unconfined: z
      .array(z.string())
      .exactOptional()
      .describe('Hosted agents that are unconfined: they run without a sandbox.'),
  })
  .meta({
    id: 'Health',
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
  })
/** Without a token where one is needed, only `status` is there. */
export type Health = z.output<typeof HealthSchema>
