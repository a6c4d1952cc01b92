import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas'
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

/** What CopilotKit's client reads from `/info` (`RuntimeInfo` of `@copilotkit/shared` 1.75). */
export const RuntimeInfoSchema = z
  .strictObject({
    version: z.string(),
    agents: z.record(
      z.string(),
      z.strictObject({
        name: z.string(),
        className: z.string(),
        description: z.string(),
        capabilities: AgentCapabilitiesSchema,
      }),
    ),
    mode: z.literal('sse'),
    threadEndpoints: z.record(z.enum(['list', 'inspect', 'mutations', 'realtimeMetadata']), z.boolean()),
    suggestions: z.boolean(),
    audioFileTranscriptionEnabled: z.boolean(),
    a2uiEnabled: z.boolean(),
    openGenerativeUIEnabled: z.boolean(),
    telemetryDisabled: z.boolean(),
  })
  .meta({ id: 'RuntimeInfo' })
export type RuntimeInfo = z.output<typeof RuntimeInfoSchema>

export const StopAnswerSchema = z
  .discriminatedUnion('stopped', [
    z.strictObject({
      stopped: z.literal(true),
      interrupt: z.strictObject({ type: z.literal('RUN_ERROR'), message: z.string(), code: z.string() }),
    }),
    z.strictObject({ stopped: z.literal(false), message: z.string() }),
  ])
  .meta({ id: 'StopAnswer', example: { stopped: false, message: "No active run for thread 'thread-1'." } })
export type StopAnswer = z.output<typeof StopAnswerSchema>

/** `ThreadRecord` of `@copilotkit/core` 1.75. */
const ThreadSchema = z
  .strictObject({
    id: z.string(),
    organizationId: z.string(),
    agentId: z.string(),
    createdById: z.string(),
    name: z.string().nullable(),
    archived: z.boolean(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    lastRunAt: z.iso.datetime(),
  })
  .meta({ id: 'CopilotKitThread' })
export type Thread = z.output<typeof ThreadSchema>

export const ThreadListSchema = z
  .strictObject({ threads: z.array(ThreadSchema), nextCursor: z.string().nullable() })
  .meta({ example: { threads: [], nextCursor: null } })
export type ThreadList = z.output<typeof ThreadListSchema>
