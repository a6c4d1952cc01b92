// What one user may have on disk without having sent it with a message: nobody fills the disk with uploads.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { UnsentFiles } from '../../domain/file.ts'

export interface UnsentAllowance {
  /** Throws `too_many_uploads` when there is no room for another file. */
  begin(owner: string): Promise<Arrival>
}

/** A file on its way in. It counts until it is disposed of; then its record does. */
export interface Arrival extends Disposable {
  /** Throws `too_many_uploads` as soon as all that arrives from this user is more than there was room for. */
  take(bytes: number): void
  /** Before it is recorded: throws `too_many_uploads` when others have taken the room meanwhile. */
  end(): Promise<void>
}

/** They are counted for every upload, so there must be an end to them, however small they are. */
const MAX_FILES = 10_000
/** What is due is removed once an hour. */
const SOONEST_SECONDS = 60

export function createUnsentAllowance(deps: {
  unsentFiles(owner: string): Promise<UnsentFiles>
  /** Of one user. */
  maxBytes: number
  /** After which they are removed. */
  ttlSeconds: number
  clock: Clock
}): UnsentAllowance {
  const { unsentFiles, maxBytes, ttlSeconds, clock } = deps
  /** Bytes of each owner that are on their way. */
  const arriving = new Map<string, number>()

  function full(what: 'bytes' | 'files', oldest: number | null): ServerError {
    const [most, details] =
      what === 'files'
        ? [`${MAX_FILES.toLocaleString('en')} files`, { max_files: MAX_FILES }]
        : [`${maxBytes / 1_000_000} MB`, { max_bytes: maxBytes }]
    const left = oldest === null ? 0 : ttlSeconds - (clock.now() - oldest) / 1_000
    return new ServerError(
      'too_many_uploads',
      `Uploaded files that are not sent with a message may be ${most} at most, and with this one they would be more. ` +
        `Send those with messages, or wait until they are removed, ${spanOf(ttlSeconds)} after they came.`,
      { details: { ...details, retry_after_seconds: Math.max(SOONEST_SECONDS, Math.ceil(left)) } },
    )
  }

  function count(owner: string, bytes: number): number {
    const now = (arriving.get(owner) ?? 0) + bytes
    if (now > 0) arriving.set(owner, now)
    else arriving.delete(owner)
    return now
  }

  return {
    async begin(owner) {
      const { files, bytes, oldest } = await unsentFiles(owner)
      if (files >= MAX_FILES) throw full('files', oldest)
      if (bytes >= maxBytes) throw full('bytes', oldest)
      let own = 0
      return {
        take(more) {
          own += more
          if (count(owner, more) > maxBytes - bytes) throw full('bytes', oldest)
        },
        async end() {
          const now = await unsentFiles(owner)
          if (now.bytes + own > maxBytes) throw full('bytes', now.oldest)
        },
        [Symbol.dispose]() {
          count(owner, -own)
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
