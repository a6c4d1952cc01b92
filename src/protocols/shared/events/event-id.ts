// The id of a log entry on the wire, `<session ULID>.<seq>`: the SSE `id:`, `Last-Event-ID` and `after=`.

import { runNotFound, ServerError, sessionNotFound } from '../../../domain/errors.ts'
import { parseUuid, ulidOf } from '../../../domain/ids.ts'
import type { Entry } from '../../../domain/session/entry.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Sessions } from '../../../engine/ports/sessions.ts'

export interface EventId {
  /** Canonical UUID. */
  sessionId: string
  seq: number
}

export const formatEventId = ({ sessionId, seq }: EventId): string => `${ulidOf(sessionId)}.${seq}`

/** Throws `malformed_id`. The session may also be a UUID. */
export function parseEventId(text: string): EventId {
  const dot = text.lastIndexOf('.')
  const sessionId = dot < 0 ? null : parseUuid(text.slice(0, dot))
  const seq = parseSeq(text.slice(dot + 1))
  if (sessionId !== null && seq !== null) return { sessionId, seq }
  throw new ServerError(
    'malformed_id',
    `${JSON.stringify(text.slice(0, 80))} is not an event id. Send one exactly as it came in an \`id:\` line, like 01J9ZQ3V6K8R2T4Y7B5N0M1C3D.42.`,
  )
}

/** Like `parseEventId`, but a bare number counts as an id of this session. */
export function parseCursor(text: string, sessionId: string): EventId {
  const seq = parseSeq(text)
  return seq === null ? parseEventId(text) : { sessionId, seq }
}

function parseSeq(text: string): number | null {
  if (!/^(?:0|[1-9]\d{0,15})$/.test(text)) return null
  const seq = Number(text)
  return Number.isSafeInteger(seq) ? seq : null
}

/** A compacted entry is searched for within this many entries. */
const LOOK_AHEAD = 2_000
/** And within this many characters: entries can be large, and the id may never have existed. */
const LOOK_AHEAD_CHARS = 4 * 1024 * 1024

/**
 * The entry of an event id. Throws `events_gone` if it was purged, lost or never written, because a reader that claims to have seen it
 * must not hear that nothing follows. Call it before a stream opens, so that the error can be a problem.
 */
export async function entryAt(sessions: Pick<Sessions, 'entries'>, sessionId: string, seq: number): Promise<Entry> {
  for (const limit of [1, LOOK_AHEAD]) {
    const near = seq < 1 ? [] : await sessions.entries(sessionId, seq - 1, limit, LOOK_AHEAD_CHARS)
    const found = near.find((entry) => entry.seq === seq || entry.spans?.some(([merged]) => merged === seq))
    if (found !== undefined) return found
  }
  const snapshot = `/sessions/${sessionId}/events?after=0`
  throw new ServerError(
    'events_gone',
    `Event ${seq} of this session is gone. Read the session from its start: ${snapshot}`,
    {
      details: { session_id: sessionId, snapshot },
    },
  )
}

/**
 * The run of a `Last-Event-ID`, the last entry that the reader has seen, and its number. `known` is a session that was looked up before. Throws `malformed_id`, `session_not_found` if the
 * session is not the owner's, `events_gone` if the event was purged or lost, and `run_not_found`.
 */
export async function resumedRun(
  engine: Pick<Engine, 'sessions' | 'runs'>,
  owner: string,
  lastEventId: string,
  known: SessionRecord | null = null,
) {
  const { sessionId, seq } = parseEventId(lastEventId)
  const session = known?.id === sessionId ? known : await engine.sessions.find(owner, sessionId)
  if (session === null) throw sessionNotFound(sessionId)
  const seen = await entryAt(engine.sessions, session.id, seq)
  if (seen.runId === null) throw runNotFound(lastEventId)
  return { run: await engine.runs.get(owner, seen.runId), session, seen, after: seq }
}
