import { z } from 'zod'
import { MessageSchema } from '../request/message-schema.ts'
import { SentFilesSchema } from '../request/sent-file.ts'

export const NewMessageSchema = z.strictObject({
  message: MessageSchema,
  files: SentFilesSchema,
  agent: z.string().nullish(),
})
