import { z } from 'zod'
import { sourcesShape } from '../shared/answer/sources.ts'
import { exampleWaiting, waitingShape } from '../shared/answer/waiting.ts'
import { FeedbackSchema } from '../shared/request/feedback.ts'
import { MessageSchema } from '../shared/request/message-limits.ts'
import { SessionRowShape } from '../shared/request/session-row.ts'
import { HostStateSchema, SupervisionSchema } from '../shared/supervised/schema.ts'

export const UserIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_]{1,64}$/, 'A user_id is 1 to 64 letters, digits and underscores.')

/** Some clients send `null` for fields they leave out. */
export const ChatRequestSchema = z.strictObject({
  message: MessageSchema,
  session_id: z.string().nullish(),
  user_id: UserIdSchema.nullish(),
})

const time = z.iso.datetime({ precision: 3 })

export const ChatResponseSchema = z
  .strictObject({
    session_id: z.string(),
    message: z.string().describe('May be empty.'),
    agent_name: z
      .string()
      .describe('The agent that answered: the one that the conversation was handed to, where it was.'),
    metadata: z.strictObject({
      response_time_ms: z.int().min(0),
      model: z.string(),
      tool_calls: z.array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) })),
    }),
    ...sourcesShape,
  })
  .meta({
    example: {
      session_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
      message: 'Hello.',
      agent_name: 'assistant',
      metadata: { response_time_ms: 812, model: 'gpt-5-mini', tool_calls: [] },
    },
  })

/** The run waits for a person. */
export const WaitingSchema = z.strictObject(waitingShape).meta({ example: exampleWaiting })

const exampleSession = {
  session_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  user_id: 'local_user',
  created_at: '2026-11-15T09:00:00.000Z',
  last_activity: '2026-11-15T09:00:02.125Z',
  message_count: 2,
  owner: 'local_user',
  agent: 'assistant',
  title: 'Hello!',
  kind: 'chat',
  status: 'open',
  updated_at: '2026-11-15T09:00:02.125Z',
  pending: 0,
  tokens: 30,
}

export const SessionInfoSchema = z
  .strictObject({
    session_id: z.string(),
    user_id: z.string(),
    created_at: time,
    last_activity: time,
    message_count: z.int().min(0),
    ...SessionRowShape,
    supervision: SupervisionSchema.exactOptional().describe('Only in sessions of the kind `supervised`.'),
  })
  .meta({ example: exampleSession })
export type Session = z.output<typeof SessionInfoSchema>

const SessionMessageSchema = z.strictObject({
  message_id: z.string(),
  role: z.enum(['user', 'assistant', 'tool']),
  content: z.string(),
  timestamp: time,
  agent_name: z.string().nullable().describe('The agent that answered; null where none did.'),
  ...sourcesShape,
  feedback: z.array(FeedbackSchema).exactOptional().describe('What people think of it, where somebody said so.'),
})

export const SessionSchema = SessionInfoSchema.extend({
  messages: z.array(SessionMessageSchema),
  host: HostStateSchema.exactOptional().describe('Only with `hosted`: what its program offers.'),
}).meta({
  example: {
    ...exampleSession,
    messages: [
      { message_id: 'm1', role: 'user', content: 'Hello!', timestamp: '2026-11-15T09:00:00.000Z', agent_name: null },
      {
        message_id: 'm2',
        role: 'assistant',
        content: 'Hello.',
        timestamp: '2026-11-15T09:00:02.125Z',
        agent_name: 'assistant',
      },
    ],
  },
})
/** A session and its messages, oldest first. */
export type SessionMessages = z.output<typeof SessionSchema>

export type ChatResponse = z.output<typeof ChatResponseSchema>
export type SessionMessage = z.output<typeof SessionMessageSchema>
