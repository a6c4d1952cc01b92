import { ServerError } from '../errors.ts'
import type { SessionRecord } from './session.ts'

/** How many supervised sessions may be open at the same time. */
export interface OpenLimits {
  /** `max_concurrent_sessions`. */
  perOwner: number
  /** `max_concurrent_sessions_total`. Null: no limit. */
  total: number | null
}

/** Throws `limit`. Names only sessions of this owner: who else works here, and on what, is not theirs to know. */
export function refuseOneMore(
  owner: string,
  open: readonly Pick<SessionRecord, 'id' | 'owner'>[],
  { perOwner, total }: OpenLimits,
): void {
  const own = open.filter((one) => one.owner === owner).map(({ id }) => id)
  const isOwnLimit = own.length >= perOwner
  if (!isOwnLimit && (total === null || open.length < total)) return
  const sessions = own.slice(0, 10)
  const limit = isOwnLimit ? perOwner : total
  const what = isOwnLimit
    ? `${JSON.stringify(owner)} has ${own.length} open supervised sessions already, and max_concurrent_sessions allows ${limit}.`
    : `There are ${open.length} open supervised sessions already, and max_concurrent_sessions_total allows ${limit}.`
  const todo =
    own.length === 0 ? 'Try again when one of them has ended.' : `End one of them first: ${sessions.join(', ')}.`
  throw new ServerError('limit', `${what} ${todo}`, { details: { sessions, limit: limit ?? perOwner } })
}
