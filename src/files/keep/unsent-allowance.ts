// Limits how much one user may upload without sending it in a message, so that nobody can fill the disk with uploads.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { UnsentFiles } from '../../domain/session/file.ts'
import { addTo } from './held-counts.ts'

/** A file that is arriving. It counts until it is disposed of. After that, its record counts. */
interface Arrival extends Disposable {
  /** Throws `too_many_uploads` as soon as the files that are arriving from this user exceed the allowance. */
  take(bytes: number): void
  /** Call it before the file is recorded. Throws `too_many_uploads` when other files have used up the allowance meanwhile. */
  end(): Promise<void>
}

/** The store counts the files for every upload, so their number is limited too, however small they are. */
const MAX_FILES = 10_000
const MIN_RETRY_SECONDS = 60

export function createUnsentAllowance(deps: {
  unsentFiles(owner: string): Promise<UnsentFiles>
  /** For one user. */
  maxBytes: number
  /** Files that are not sent are removed after this time. */
  ttlSeconds: number
  clock: Clock
}) {
  const { unsentFiles, maxBytes, ttlSeconds, clock } = deps
  /** How many bytes are arriving, by owner. */
  const arriving = new Map<string, number>()

  function full(what: 'bytes' | 'files', oldest: number | null): ServerError {
    const [most, details] =
      what === 'files'
        ? [`${MAX_FILES.toLocaleString('en')} files`, { max_files: MAX_FILES }]
        : [`${maxBytes / 1_000_000} MB`, { max_bytes: maxBytes }]
    const left = oldest === null ? 0 : ttlSeconds - (clock.now() - oldest) / 1_000
    return new ServerError(
      'too_many_uploads',
      `Uploads that are not yet sent in a message may not exceed ${most}, and this file would exceed that. ` +
        `Send the earlier files in messages, or wait: they are removed ${spanOf(ttlSeconds)} after their upload.`,
      { details: { ...details, retry_after_seconds: Math.max(MIN_RETRY_SECONDS, Math.ceil(left)) } },
    )
  }

  return {
    /** Throws `too_many_uploads` when the user may not send another file. */
    async begin(owner: string): Promise<Arrival> {
      const { files, bytes, oldest } = await unsentFiles(owner)
      if (files >= MAX_FILES) throw full('files', oldest)
      if (bytes >= maxBytes) throw full('bytes', oldest)
      let own = 0
      return {
        take(more) {
          own += more
          if (addTo(arriving, owner, more) > maxBytes - bytes) throw full('bytes', oldest)
        },
        async end() {
          const now = await unsentFiles(owner)
          if (now.bytes + own > maxBytes) throw full('bytes', now.oldest)
        },
        [Symbol.dispose]() {
          addTo(arriving, owner, -own)
          own = 0
        },
      }
    },
  }
}

function spanOf(seconds: number): string {
  if (seconds % 3_600 === 0) return `${seconds / 3_600} h`
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
}
