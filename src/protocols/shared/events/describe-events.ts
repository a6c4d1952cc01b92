// Descriptions for routes that take a RunAgentInput or answer with AG-UI events.

import { EventSchema, RunAgentInputSchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import type { BodyDescription, ResponseDescription } from '../../../http/route.ts'
import { PROTOBUF_TYPE } from './stream-events.ts'

/** The type has only what we read of it: a declaration cannot name all parts of AG-UI's own. */
export const AgUiEventSchema: z.ZodType<{ type: string; timestamp?: number | undefined }> = EventSchema.meta({
  id: 'AgUiEvent',
})

export const exampleInput = {
  threadId: 'thread-1',
  runId: 'run-1',
  messages: [{ id: 'message-1', role: 'user', content: 'Hello!' }],
}

export const runInputBody: BodyDescription = {
  schema: RunAgentInputSchema.meta({ id: 'RunAgentInput' }),
  examples: {
    'a first message': exampleInput,
    'the thread as it is': { threadId: 'thread-1', runId: 'run-2', messages: [] },
  },
}

/** Events of one or more runs, as text or in AG-UI's binary format. */
export const eventStream = (description: string): ResponseDescription => ({
  description,
  content: {
    'text/event-stream': {
      schema: AgUiEventSchema,
      example: { type: 'TEXT_MESSAGE_CONTENT', messageId: 'message-2', delta: 'Hello' },
    },
    [PROTOBUF_TYPE]: { schema: z.string() },
  },
})

export const nothingMore: ResponseDescription = { description: 'With `Last-Event-ID`: the run has no further events.' }
