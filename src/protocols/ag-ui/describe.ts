// What these routes take and answer, for the OpenAPI document.

import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import type { RouteDescription } from '../../http/route-description.ts'
import { startErrors } from '../shared/answer/error-lists.ts'
import { eventStream, nothingMore, runInputBody } from '../shared/events/describe-events.ts'
import { startHeaderSchemas } from '../shared/request/start-headers.ts'

const tag = 'AG-UI'
const params = { name: z.string().describe('Name of the agent.') }

export const describeRun: RouteDescription = {
  tag,
  description:
    'New messages start a run. Without new messages the answer shows the thread. A known `runId` attaches to its run. The last event is always RUN_FINISHED or RUN_ERROR. After a lost connection, send the request again with the header `Last-Event-ID`.',
  headers: startHeaderSchemas,
  body: runInputBody,
  responses: { 200: eventStream('The events of the run.'), 204: nothingMore },
  errors: [...startErrors, 'file_too_large', 'too_many_files', 'forbidden'],
}

export const describeAgentRun: RouteDescription = { ...describeRun, params }

export const describeCapabilities: RouteDescription = {
  tag,
  responses: {
    200: {
      description: 'The capabilities of the agent.',
      content: {
        'application/json': {
          schema: AgentCapabilitiesSchema.meta({ id: 'AgentCapabilities' }),
          example: { identity: { name: 'assistant', type: 'quarterdeck' }, transport: { streaming: true } },
        },
      },
    },
  },
  errors: [],
}

export const describeAgentCapabilities: RouteDescription = {
  ...describeCapabilities,
  params,
  errors: ['agent_not_found'],
}
