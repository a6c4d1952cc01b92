import { isoTime } from '../../../domain/clock.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { SessionOverview } from '../../../domain/session/session-overview.ts'

/** A session that was deleted a moment ago has no overview any more. */
export function sessionRow(session: SessionRecord, overview: SessionOverview | undefined) {
  return {
    owner: session.owner,
    agent: session.agent,
    title: overview?.title ?? '',
    kind: session.supervision === undefined ? ('chat' as const) : ('supervised' as const),
    status: overview?.activity ?? ('open' as const),
    updated_at: isoTime(session.lastActivity),
    pending: overview?.pending ?? 0,
    tokens: overview?.tokens ?? 0,
  }
}
