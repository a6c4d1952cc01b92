// What these routes take and answer, for the OpenAPI document.

import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import type { ResponseDescription, RouteDescription } from '../../../http/route-description.ts'
import { startErrors } from '../../shared/answer/error-lists.ts'
import { eventStream, nothingMore, runInputBody } from '../../shared/events/describe-events.ts'
import { startHeaderSchemas } from '../../shared/request/start-headers.ts'
import { CallSchema, StopSchema } from './schema.ts'

const tag = 'CopilotKit'
const params = { name: z.string().describe('Name of the agent; `default` is the default agent.') }
const errors = [...startErrors, 'file_too_large', 'too_many_files', 'forbidden'] as const

const RuntimeInfoSchema = z
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

const StopAnswerSchema = z
  .discriminatedUnion('stopped', [
    z.strictObject({
      stopped: z.literal(true),
      interrupt: z.strictObject({ type: z.literal('RUN_ERROR'), message: z.string(), code: z.string() }),
    }),
    z.strictObject({ stopped: z.literal(false), message: z.string() }),
  ])
  .meta({ id: 'StopAnswer' })

const infoAnswer: ResponseDescription = {
  description: 'The agents.',
  content: { 'application/json': { schema: RuntimeInfoSchema } },
}

export const describeInfo: RouteDescription = { tag, responses: { 200: infoAnswer }, errors: [] }

export const describeRun: RouteDescription = {
  tag,
  description: 'Like `POST /agents/{name}` of AG-UI.',
  params,
  headers: startHeaderSchemas,
  body: runInputBody,
  responses: { 200: eventStream('The events of the run.'), 204: nothingMore },
  errors,
}

export const describeConnect: RouteDescription = {
  tag,
  description: 'Starts no run. Shows the thread, then its active run from its beginning to its end.',
  params,
  body: runInputBody,
  responses: { 200: eventStream('The thread, then the events of its active run.') },
  errors,
}

const stopAnswer: ResponseDescription = {
  description: 'Whether a run was stopped.',
  content: {
    'application/json': {
      schema: StopAnswerSchema,
      example: { stopped: false, message: "No active run for thread 'thread-1'." },
    },
  },
}

export const describeStop: RouteDescription = {
  tag,
  description: 'Without `runId` it stops the active run.',
  params: { ...params, threadId: z.string() },
  body: { schema: StopSchema.optional(), examples: { 'one run': { runId: 'run-1' } } },
  responses: { 200: stopAnswer },
  errors,
}

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

export const describeThreads: RouteDescription = {
  tag,
  description: 'Newest first. The list includes threads that other protocols began.',
  query: {
    agentId: z.string().optional().describe('Only threads of this agent; `default` is the default agent.'),
    limit: z.string().optional().describe('1 to 200; default 50.'),
    cursor: z.string().optional().describe('The `nextCursor` of the previous page.'),
    includeArchived: z.string().optional().describe('Has no effect, because threads are never archived.'),
  },
  responses: {
    200: {
      description: 'The threads.',
      content: {
        'application/json': {
          schema: z.strictObject({ threads: z.array(ThreadSchema), nextCursor: z.string().nullable() }),
          example: { threads: [], nextCursor: null },
        },
      },
    },
  },
  errors: ['invalid_request', 'agent_not_found'],
}

export const describeSingle: RouteDescription = {
  tag,
  description: 'Answers like the route of that method.',
  headers: startHeaderSchemas,
  body: {
    schema: CallSchema.meta({ id: 'CopilotKitCall' }),
    examples: {
      info: { method: 'info' },
      run: {
        method: 'agent/run',
        params: { agentId: 'default' },
        body: {
          threadId: 'thread-1',
          runId: 'run-1',
          messages: [{ id: 'message-1', role: 'user', content: 'Hello!' }],
        },
      },
      stop: { method: 'agent/stop', params: { agentId: 'default', threadId: 'thread-1' } },
    },
  },
  responses: {
    200: {
      description: 'The answer to the call.',
      content: {
        ...eventStream('').content,
        'application/json': { schema: z.union([RuntimeInfoSchema, StopAnswerSchema]) },
      },
    },
    204: nothingMore,
  },
  errors,
}
