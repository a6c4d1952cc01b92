import { z } from 'zod'
import { MessageSchema } from '../shared/request/message-limits.ts'
import { SessionRowShape } from '../shared/request/session-row.ts'
import { SupervisionSchema } from '../shared/supervised/schema.ts'

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

export const ChatResponseSchema = z.strictObject({
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
})

/** The run waits for a person. */
export const WaitingSchema = z.strictObject({
  status: z.literal('waiting'),
  run_id: z.string(),
  approval_ids: z.array(z.string()),
})

export const SessionInfoSchema = z.strictObject({
  session_id: z.string(),
  user_id: z.string(),
  created_at: time,
  last_activity: time,
  message_count: z.int().min(0),
  ...SessionRowShape,
  supervision: SupervisionSchema.optional().describe('Only in sessions of agents that work elsewhere.'),
})

const SessionMessageSchema = z.strictObject({
  role: z.enum(['user', 'assistant', 'tool']),
  content: z.string(),
  timestamp: time,
  agent_name: z.string().nullable().describe('The agent that answered; null where none did.'),
})

export const SessionSchema = SessionInfoSchema.extend({ messages: z.array(SessionMessageSchema) })

export type ChatResponse = z.infer<typeof ChatResponseSchema>
export type SessionInfo = z.infer<typeof SessionInfoSchema>
export type SessionMessage = z.infer<typeof SessionMessageSchema>
