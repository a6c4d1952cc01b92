import { ServerError } from '../../../domain/errors.ts'
import { fileLimits } from '../../../domain/session/file.ts'
import { decoded } from '../../../domain/text/decoded.ts'
import type { ServiceHttp } from './service-http.ts'

interface FetchedFile {
  content: Uint8Array
  /** What its server says. Null when that is of no use. */
  mimeType: string | null
  /** The last part of its path. Null when there is none. */
  name: string | null
}

/** Fetches a file that a message names by its URL. Throws `invalid_request`, `file_too_large` or `file_unreadable`. */
export type FetchFile = (url: string, signal: AbortSignal) => Promise<FetchedFile>

const FETCH_MS = 30_000

/** `http` must read up to `fileLimits.base64Bytes`. It checks every address before it connects. */
export function createFetchFile(http: ServiceHttp): FetchFile {
  return async (text, signal) => {
    const url = URL.parse(text)
    if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
      throw new ServerError(
        'invalid_request',
        'The URL of a file must begin with https:// and must not contain a user or password.',
      )
    }
    const request = { method: 'GET', url, headers: { accept: '*/*' }, body: null, allowPrivate: false }
    const answer = await http.send(request, AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)])).catch(unreadable)
    if (answer.status !== 200) throw notFetched(`its server answered ${answer.status}`)
    if (answer.isCut || (answer.contentLength ?? 0) > fileLimits.base64Bytes) {
      const megabytes = fileLimits.base64Bytes / 1_000_000
      throw new ServerError('file_too_large', `A file that is fetched from a URL may be at most ${megabytes} MB large.`)
    }
    const type = (answer.contentType.split(';')[0] ?? '').trim()
    return {
      content: answer.body,
      mimeType: type === '' || type === 'application/octet-stream' ? null : type,
      name: decoded(url.pathname.split('/').at(-1) ?? '') || null,
    }
  }
}

function unreadable(error: unknown): never {
  if (error instanceof ServerError) throw notFetched(error.message)
  throw error
}

const notFetched = (why: string): ServerError =>
  new ServerError('file_unreadable', `The file could not be fetched: ${why.replace(/\.$/, '')}.`)
