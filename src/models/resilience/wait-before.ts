import { ServerError } from '../../domain/errors.ts'

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8_000
/** When a server asks to wait longer than this, the call fails instead. */
const LONGEST_RETRY_AFTER_S = 60

/** Milliseconds until the next attempt, or null when another attempt makes no sense. */
export function waitBefore(error: unknown, attempt: number, random: number): number | null {
  if (!(error instanceof ServerError)) return null
  // After a timeout the user has waited long enough; only another model may help.
  if (error.details.retryable !== true || error.code === 'model_timeout') return null
  // Half of the time is random, so that runs that failed together do not all retry at the same moment.
  const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt) * (0.5 + random / 2)
  const { retryAfter } = error.details
  if (typeof retryAfter !== 'number') return Math.round(backoff)
  if (retryAfter > LONGEST_RETRY_AFTER_S) return null
  return Math.round(Math.max(retryAfter * 1000, backoff))
}
