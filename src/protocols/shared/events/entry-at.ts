import type { Entry } from '../../../domain/entry.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Sessions } from '../../../engine/ports/sessions.ts'

/** How far behind one of its seqs a compacted entry is looked for. */
const LOOK_AHEAD = 2_000
/** Nor further than this: entries can be large, and the id may be one that never was. */
const LOOK_AHEAD_CHARS = 4 * 1024 * 1024

/**
 * The entry that an event id names. Throws `events_gone` when it was purged, lost or never written: a reader that believes
 * to have seen it must not be told that nothing follows. Asked before a stream opens, so that the answer is a problem.
 */
export async function entryAt(sessions: Pick<Sessions, 'entries'>, sessionId: string, seq: number): Promise<Entry> {
  for (const limit of [1, LOOK_AHEAD]) {
    const near = seq < 1 ? [] : await sessions.entries(sessionId, seq - 1, limit, LOOK_AHEAD_CHARS)
    const found = near.find((entry) => entry.seq === seq || entry.spans?.some(([merged]) => merged === seq))
    if (found !== undefined) return found
  }
  const snapshot = `/sessions/${sessionId}/events?after=0`
  throw new ServerError('events_gone', `Event ${seq} of this session is gone. Read the session anew: ${snapshot}`, {
    details: { session_id: sessionId, snapshot },
  })
}
