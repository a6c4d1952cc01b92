// What the agent routes take, as JSON and as a form.

import { z } from 'zod'
import { ServerError } from '../../domain/errors.ts'
import { fileLimits } from '../../domain/session/file.ts'
import type { MultipartFile, MultipartPart } from '../../http/body/multipart.ts'
import { MessageSchema } from '../shared/request/message-limits.ts'
import { SentFilesSchema, sentFiles } from '../shared/request/sent-file.ts'
import { jsonPointer, validBody } from '../shared/request/validate.ts'

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

/** `sessionId` is the client's own spelling. Throws `invalid_request`. */
export function decodeChatRequest(body: unknown) {
  const { message, session_id, files } = validBody(ChatRequestSchema, body, 'The body is not a valid chat request.')
  return { message, sessionId: session_id ?? null, files: sentFiles(files) }
}

const FIELDS: readonly string[] = ['message', 'session_id']
const FILES: readonly string[] = ['files', 'file']

/** Stores files as they arrive, before or after the message. `fields`, by name, are to be checked like a JSON body. Throws `invalid_request` for an unknown part. */
export async function readChatForm<T>(
  parts: AsyncIterable<MultipartPart>,
  keep: (file: MultipartFile) => Promise<T>,
): Promise<{ fields: Record<string, string>; files: T[] }> {
  const fields = new Map<string, string>()
  const files: T[] = []
  for await (const part of parts) {
    const { name } = part
    if (part.kind === 'file') {
      if (!FILES.includes(name)) throw wrongPart(name, 'Send files in parts named "files".')
      files.push(await keep(part))
    } else if (FILES.includes(name)) {
      throw wrongPart(name, 'Send it as a file: with a filename in its Content-Disposition.')
    } else if (!FIELDS.includes(name)) {
      throw wrongPart(name, 'Unknown part: leave it out.')
    } else if (fields.has(name)) {
      throw wrongPart(name, 'Send it once.')
    } else fields.set(name, part.value)
  }
  return { fields: Object.fromEntries(fields), files }
}

function wrongPart(name: string, detail: string): ServerError {
  const problems = [{ pointer: jsonPointer([name.slice(0, 100)]), detail }]
  return new ServerError('invalid_request', 'The form is not a valid chat request.', { problems })
}
