import { ServerError } from '../../domain/errors.ts'
import { inputProblems } from '../request/input-problems.ts'
import { judge } from '../request/judge.ts'
import { type SentFile, sentFiles } from '../request/sent-file.ts'
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
