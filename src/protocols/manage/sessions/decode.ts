import { ServerError } from '../../../domain/errors.ts'
import { type SentFile, sentFiles } from '../../shared/request/sent-file.ts'
import { inputProblems, validate } from '../../shared/request/validate.ts'
import { NewMessageSchema } from './request-schema.ts'

interface PostedMessage {
  message: string
  agent: string | null
  files: SentFile[]
}

/** Throws `invalid_request`. */
export function decodeNewMessage(body: unknown): PostedMessage {
  const parsed = validate(NewMessageSchema, body)
  if (!parsed.success) {
    throw new ServerError('invalid_request', 'The body is not a valid message.', {
      problems: inputProblems(parsed.issues, body),
    })
  }
  const { message, files, agent } = parsed.data
  return { message, agent: agent ?? null, files: sentFiles(files) }
}
