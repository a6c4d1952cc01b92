import { ServerError } from '../../domain/errors.ts'
import type { MultipartFile, MultipartPart } from '../../http/body/multipart.ts'
import { type SentFile, sentFiles } from '../shared/request/sent-file.ts'
import { inputProblems, jsonPointer, validate } from '../shared/request/validate.ts'
import { ChatRequestSchema } from './request-schema.ts'

export interface ChatMessage {
  message: string
  /** The client's own spelling. */
  sessionId: string | null
  files: SentFile[]
}

/** Throws `invalid_request`. */
export function decodeChatRequest(body: unknown): ChatMessage {
  const parsed = validate(ChatRequestSchema, body)
  if (!parsed.success) {
    throw new ServerError('invalid_request', 'The body is not a valid chat request.', {
      problems: inputProblems(parsed.issues, body),
    })
  }
  const { message, session_id, files } = parsed.data
  return { message, sessionId: session_id ?? null, files: sentFiles(files) }
}

interface ChatForm<T> {
  /** Fields by name, to be checked like a JSON body. */
  fields: Record<string, string>
  files: T[]
}

const FIELDS: readonly string[] = ['message', 'session_id']
const FILES: readonly string[] = ['files', 'file']

/** Stores files as they arrive, before or after the message. Throws `invalid_request` for an unknown part. */
export async function readChatForm<T>(
  parts: AsyncIterable<MultipartPart>,
  keep: (file: MultipartFile) => Promise<T>,
): Promise<ChatForm<T>> {
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
