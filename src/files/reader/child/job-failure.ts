import { ServerError } from '../../../domain/errors.ts'

/**
 * Whether the content decided that a file cannot be read, so that reading the same bytes again would come to the same end. Only
 * what a reader has understood and refused is lasting. What it did not foresee may have any reason, and so may a refusal behind
 * which the machine is found: readers call a file damaged also when the disk or the memory failed them.
 */
export function isLastingFailure(error: unknown): boolean {
  if (!(error instanceof ServerError) || error.code !== 'file_unreadable') return false
  for (let link = error.cause; link instanceof Error; link = link.cause) if (isCircumstance(link)) return false
  return true
}

function isCircumstance(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  // `EIO`, `ENOENT` and `EMFILE` are the system's, `ERR_…` are Node's: missing modules, workers that died, denied access.
  if (code.startsWith('E') || code === 'Z_MEM_ERROR') return true
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true
  // Native libraries have no codes, only words.
  return /memory|alloc|input file is missing|too many open files|no space|worker|module/i.test(error.message)
}
