import { z } from 'zod'
import { answer } from '../../http/describe-answer.ts'
import type { RouteDescription } from '../../http/route-description.ts'
import { fileErrors, runErrors, startErrors } from '../shared/answer/error-lists.ts'
import { startHeaderSchemas } from '../shared/request/start-headers.ts'
import { ChatFormSchema, ChatRequestSchema } from './request-schema.ts'
import { ChatResponseSchema, streamEventSchemas, WaitingSchema } from './schema.ts'

const params = { name: z.string().meta({ description: 'Name of the agent.' }) }

const body = {
  schema: ChatRequestSchema,
  examples: {
    'a new session': { message: 'What is the weather in Berlin?' },
    'the next message': { message: 'And tomorrow?', session_id: '01J9ZQ3V6K8R2T4Y7B5N0M1C3D' },
    'with a file': {
      message: 'What does it say?',
      files: [{ content: 'SGVsbG8=', mime_type: 'text/plain', filename: 'note.txt' }],
    },
  },
}

const form = { schema: ChatFormSchema }

export const describeChat: RouteDescription = {
  tag: 'Agent',
  description:
    'Answers when the run has ended. If the client disconnects, the run is stopped after `limits.disconnect_grace`. A well-formed but unknown session id begins a new session with a new id.',
  params,
  headers: startHeaderSchemas,
  body,
  form,
  responses: {
    200: answer('The answer.', ChatResponseSchema),
    202: answer('The run waits for a person.', WaitingSchema),
  },
  errors: [...startErrors, ...fileErrors, ...runErrors],
}

export const describeStream: RouteDescription = {
  tag: 'Agent',
  description:
    'Server-sent events with `event:` lines. The first is `stream_start`, the last is always `stream_end` or `error`. After a lost connection, send the request again with the header `Last-Event-ID`.',
  params,
  headers: startHeaderSchemas,
  body,
  form,
  responses: {
    200: {
      description: 'The answer as it is written.',
      content: {
        'text/event-stream': {
          schema: z.union(Object.values(streamEventSchemas)),
          example: { delta: 'It is sunny', message_id: '01J9ZQ4A7M2N8P5R1T6V3W9X0Y' },
          events: streamEventSchemas,
        },
      },
    },
    204: { description: 'With `Last-Event-ID`: the run has no further events.' },
  },
  errors: [...startErrors, ...fileErrors],
}
