import { isRecord } from '../../../domain/is-record.ts'
import { fileLimits } from '../../../domain/session/file.ts'
import type { Request } from '../../../http/route.ts'
import { fileTooLarge } from './attachments.ts'

const base64Chars = (bytes: number): number => Math.ceil(bytes / 3) * 4

const long = {
  /** All files of a request as base64, and the text around them. */
  maxBytes: Math.ceil((fileLimits.totalBytes * 4) / 3) + 4_000_000,
  maxTextChars: base64Chars(fileLimits.base64Bytes),
  textTooLong: () => fileTooLarge(),
}

/**
 * Reads a JSON body that may contain files. A body beyond the usual limit must announce its length, so that a body that is too large is
 * refused before it is read. The files of such a body are `LongText`s. One that answers what an agent asked has no key twice.
 */
export const jsonWithFiles = (request: Pick<Request, 'json'>): Promise<unknown> =>
  request.json({ long, hasKeysOnce: bringsAnswers })

/** `resume` of AG-UI's input, which CopilotKit may send inside an envelope, and the answered calls in a message of `useChat`. */
const bringsAnswers = (body: unknown): boolean =>
  isRecord(body) &&
  (hasAnswers(body) ||
    hasAnsweredCall(body) ||
    Object.values(body).some((inner) => isRecord(inner) && hasAnswers(inner)))

const hasAnsweredCall = ({ messages }: Record<string, unknown>): boolean =>
  Array.isArray(messages) &&
  messages.some(
    (message) =>
      isRecord(message) &&
      Array.isArray(message.parts) &&
      message.parts.some((part) => isRecord(part) && (isRecord(part.approval) || part.type === 'data-question')),
  )

const hasAnswers = ({ resume }: Record<string, unknown>): boolean => Array.isArray(resume) && resume.length > 0

/** The lists of a body that can contain files, at any door. */
const LISTS = ['files', 'messages', 'input'] as const

/**
 * Call it when the files of a request are stored. Empties the decoded bodies and closes the temporary file. Otherwise a hundred megabytes
 * of base64 would stay in memory or on disk until the answer is complete, which can take minutes.
 */
export function releaseBody(request: Pick<Request, 'releaseBody'>, bodies: readonly unknown[]): void {
  request.releaseBody()
  for (const body of bodies) empty(body)
}

function empty(body: unknown): void {
  if (typeof body !== 'object' || body === null) return
  for (const name of LISTS) {
    const list: unknown = Reflect.get(body, name)
    if (Array.isArray(list)) list.length = 0
  }
}
