import { ServerError } from '../../domain/errors.ts'
import { inputProblems } from '../request/input-problems.ts'
import { judge } from '../request/judge.ts'
import { type SentFile, sentFiles } from '../request/sent-file.ts'
import { NewMessageSchema } from './schema.ts'

export interface PostedMessage {
  message: string
  agent: string | null
  files: SentFile[]
}

/** Throws `invalid_request`. */
export function decodeNewMessage(body: unknown): PostedMessage {
  const parsed = judge(NewMessageSchema, body)
  if (!parsed.success) {
    throw new ServerError('invalid_request', 'The body is no valid message.', {
      problems: inputProblems(parsed.issues, body),
    })
  }
  const { message, files, agent } = parsed.data
  return { message, agent: agent ?? null, files: sentFiles(files) }
}
