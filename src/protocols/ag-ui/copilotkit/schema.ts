import { z } from 'zod'

export const StopSchema = z.strictObject({ runId: z.string().min(1).optional() })

const agentId = z.string().min(1)

/** What CopilotKit posts to the runtime's URL when it uses a single endpoint. */
export const CallSchema = z.discriminatedUnion('method', [
  z.object({ method: z.literal('info') }),
  z.object({ method: z.literal('agent/run'), params: z.object({ agentId }), body: z.unknown() }),
  z.object({ method: z.literal('agent/connect'), params: z.object({ agentId }), body: z.unknown() }),
  z.object({
    method: z.literal('agent/stop'),
    params: z.object({ agentId, threadId: z.string().min(1) }),
    body: z.unknown().optional(),
  }),
])

export type Call = z.infer<typeof CallSchema>
