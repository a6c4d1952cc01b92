import { z } from 'zod'
import { MessageSchema } from '../../shared/request/message-limits.ts'
import { SentFilesSchema } from '../../shared/request/sent-file.ts'

export const NewMessageSchema = z
  .strictObject({
    message: MessageSchema,
    files: SentFilesSchema,
    agent: z.string().nullish(),
  })
  .meta({ id: 'NewMessage' })
