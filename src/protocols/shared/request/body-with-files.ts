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
