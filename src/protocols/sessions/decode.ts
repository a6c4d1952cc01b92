import { ServerError } from '../../domain/errors.ts'
import { inputProblems } from '../request/input-problems.ts'
import { NewMessageSchema } from './schema.ts'

export interface PostedMessage {
  message: string
  agent: string | null
}

/** Throws `invalid_request`, or `not_available_yet` for files. */
export function decodeNewMessage(body: unknown): PostedMessage {
  const parsed = NewMessageSchema.safeParse(body)
  if (!parsed.success) {
    throw new ServerError('invalid_request', 'The body is no valid message.', {
      problems: inputProblems(parsed.error.issues),
    })
  }
  const { message, files, agent } = parsed.data
  if (files != null && files.length > 0) {
    throw new ServerError('not_available_yet', 'Sending files is not available yet; send the text alone.')
  }
  return { message, agent: agent ?? null }
}
