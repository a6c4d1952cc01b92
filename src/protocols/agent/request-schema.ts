// What the agent routes take.

import { z } from 'zod'
import { fileLimits } from '../../domain/file.ts'
import { MessageSchema } from '../shared/request/message-limits.ts'
import { SentFilesSchema } from '../shared/request/sent-file.ts'

export const ChatRequestSchema = z.strictObject({
  message: MessageSchema,
  session_id: z.string().nullish().meta({
    description:
      'The session to continue: a ULID, a UUID, or the name that a client gave it. Without it, or with an unknown id, a new session begins.',
  }),
  files: SentFilesSchema,
})

/** The same request as a form. */
export const ChatFormSchema = z.strictObject({
  message: ChatRequestSchema.shape.message,
  session_id: z.string().optional(),
  files: z
    .array(z.file())
    .max(fileLimits.files)
    .optional()
    .meta({
      description: `Up to ${fileLimits.multipartBytes / 1e6} MB each and ${fileLimits.totalBytes / 1e6} MB in all.`,
    }),
})
