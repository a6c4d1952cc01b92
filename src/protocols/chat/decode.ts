import { ServerError } from '../../domain/errors.ts'
import { inputProblems } from '../shared/request/input-problems.ts'
import { judge } from '../shared/request/validate.ts'
import { ChatRequestSchema } from './schema.ts'

export interface ChatRequest {
  message: string
  sessionId: string | null
  userId: string | null
}

/** Throws `invalid_request`. */
export function decodeChat(body: unknown): ChatRequest {
  const parsed = judge(ChatRequestSchema, body)
  if (!parsed.success) {
    throw new ServerError('invalid_request', 'The body is no valid chat request.', {
      problems: inputProblems(parsed.issues),
    })
  }
  const { message, session_id, user_id } = parsed.data
  return { message, sessionId: session_id ?? null, userId: user_id ?? null }
}
