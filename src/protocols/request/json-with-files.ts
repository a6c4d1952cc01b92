import { fileLimits } from '../../domain/file.ts'
import type { Request } from '../../http/route.ts'

/** All files a request may bring, as base64, and what is said around them. */
const MAX_BYTES = Math.ceil((fileLimits.totalBytes * 4) / 3) + 4_000_000

/**
 * The body as JSON that may hold files. More than the ordinary limit is taken only from those who announce it, so that what is too
 * much is refused before any of it is read, and nobody gets memory by just going on.
 */
export function jsonWithFiles(request: Pick<Request, 'header' | 'json'>): Promise<unknown> {
  return request.json(request.header('content-length') === undefined ? {} : { maxBytes: MAX_BYTES })
}
