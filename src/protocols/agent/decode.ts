import { ServerError } from '../../domain/errors.ts'
import { inputProblems } from '../request/input-problems.ts'
import { ChatRequestSchema } from './schema.ts'

export interface ChatMessage {
  message: string
  /** As the client wrote it. */
  sessionId: string | null
}

/** Throws `invalid_request`, or `not_available_yet` for files. */
export function decodeChatRequest(body: unknown): ChatMessage {
  const parsed = ChatRequestSchema.safeParse(body)
  if (!parsed.success) {
    throw new ServerError('invalid_request', 'The body is no valid chat request.', {
      problems: inputProblems(parsed.error.issues),
    })
  }
  const { message, session_id, files } = parsed.data
  if (files != null && files.length > 0) throw noFilesYet()
  return { message, sessionId: session_id ?? null }
}

/** Throws `not_available_yet` for a form. */
export function refuseForm(contentType: string | undefined): void {
  if (contentType?.trim().toLowerCase().startsWith('multipart/')) throw noFilesYet()
}

const noFilesYet = (): ServerError =>
  new ServerError('not_available_yet', 'Sending files is not available yet; send the text alone, as JSON.')
