import { ServerError } from '../../domain/errors.ts'
import { inputProblems } from '../shared/request/input-problems.ts'
import { type SentFile, sentFiles } from '../shared/request/sent-file.ts'
import { judge } from '../shared/request/validate.ts'
import { ChatRequestSchema } from './schema.ts'

export interface ChatMessage {
  message: string
  /** As the client wrote it. */
  sessionId: string | null
  files: SentFile[]
}

/** Throws `invalid_request`. */
export function decodeChatRequest(body: unknown): ChatMessage {
  const parsed = judge(ChatRequestSchema, body)
  if (!parsed.success) {
    throw new ServerError('invalid_request', 'The body is no valid chat request.', {
      problems: inputProblems(parsed.issues, body),
    })
  }
  const { message, session_id, files } = parsed.data
  return { message, sessionId: session_id ?? null, files: sentFiles(files) }
}
