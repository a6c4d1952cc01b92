// What the routes of this family take and answer, for the document.

import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import type { RouteDescription } from '../../http/route-description.ts'
import { startErrors } from '../shared/answer/error-lists.ts'
import { eventStream, nothingMore, runInputBody } from '../shared/events/describe-events.ts'
import { startHeaderSchemas } from '../shared/request/start-headers.ts'

const tag = 'AG-UI'
const params = { name: z.string().describe('The name of the agent.') }

export const describeRun: RouteDescription = {
  tag,
  description:
    'Only messages that the thread does not know yet start a run; without any the thread is shown as it is. The same `runId` attaches to its run. The last event is RUN_FINISHED or RUN_ERROR, whatever happens. After a lost connection send the request again with the header `Last-Event-ID`.',
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
      description: 'What the agent can do.',
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
