import { ServerError } from '../../../domain/errors.ts'
import { systemErrorCode } from '../../../domain/system-error-code.ts'
import type { ChildMessage } from '../read-job.ts'

/** What the child reports when a job fails. */
export function jobFailure(error: unknown): ChildMessage {
  const cause = error instanceof Error ? String(error.cause ?? error.stack ?? error).slice(0, 2_000) : String(error)
  return { type: 'failed', message: sentenceFor(error), cause, lasting: isLastingFailure(error) }
}

function sentenceFor(error: unknown): string {
  if (error instanceof ServerError) return error.message
  return systemErrorCode(error) === 'ENOSPC'
    ? "The server's disk is full: no file can be read until there is free space."
    : 'The file could not be read: it is damaged, or not of the type it seems to be.'
}

/**
 * Whether the content is the reason that a file cannot be read, so that the same bytes would fail again. Only a refusal by a
 * reader is lasting. An unexpected error may have any reason. So may a refusal that the machine caused: readers call a file
 * damaged also when the disk or the memory failed.
 */
export function isLastingFailure(error: unknown): boolean {
  if (!(error instanceof ServerError) || error.code !== 'file_unreadable') return false
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) if (isMachineFailure(cause)) return false
  return true
}

function isMachineFailure(error: Error): boolean {
  const code = systemErrorCode(error)
  // `EIO`, `ENOENT` and `EMFILE` come from the system, `ERR_…` from Node: missing modules, workers that died, denied access.
  if (code.startsWith('E') || code === 'Z_MEM_ERROR') return true
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true
  // Errors of native libraries have no codes, only messages.
  return /memory|alloc|input file is missing|too many open files|no space|worker|module/i.test(error.message)
}
