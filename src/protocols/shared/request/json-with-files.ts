import { fileLimits } from '../../../domain/file.ts'
import type { Request } from '../../../http/route.ts'
import { fileTooLarge } from './attachments.ts'

const base64Chars = (bytes: number): number => Math.ceil(bytes / 3) * 4

const long = {
  /** All files a request may bring, as base64, and what is said around them. */
  maxBytes: Math.ceil((fileLimits.totalBytes * 4) / 3) + 4_000_000,
  maxTextChars: base64Chars(fileLimits.base64Bytes),
  textTooLong: () => fileTooLarge(),
}

/**
 * The body as JSON that may hold files. More than the ordinary limit is taken only from those who announce it, so that what is too
 * much is refused before any of it is read; of such a body the files are `LongText`s.
 */
export const jsonWithFiles = (request: Pick<Request, 'json'>): Promise<unknown> => request.json({ long })
