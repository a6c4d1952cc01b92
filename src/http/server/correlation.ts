import type { Ids } from '../../domain/ids.ts'

// It goes into headers, log lines and problems, so only characters that mean nothing in any of them.
const SAFE = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** The id the caller chose for its request, or a new one where it chose none or one that could do harm. */
export function correlationOf(header: string | string[] | undefined, ids: Ids): string {
  return typeof header === 'string' && SAFE.test(header) ? header : ids.uuid()
}
