import { z } from 'zod'
import { MessageSchema } from '../request/message-schema.ts'

export const NewMessageSchema = z.strictObject({
  message: MessageSchema,
  files: z.array(z.unknown()).nullish(),
  agent: z.string().nullish(),
})
