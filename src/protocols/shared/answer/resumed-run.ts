import { runNotFound, sessionNotFound } from '../../../domain/errors.ts'
import type { Entry } from '../../../domain/session/entry.ts'
import type { RunRecord } from '../../../domain/session/run.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import { entryAt, parseEventId } from '../events/event-id.ts'

interface ResumedRun {
  run: RunRecord
  session: SessionRecord
  /** The last entry that the reader has seen, and its number. */
  seen: Entry
  after: number
}

/**
 * The run of a `Last-Event-ID`. `known` is a session that was looked up before. Throws `malformed_id`, `session_not_found` if the
 * session is not the owner's, `events_gone` if the event was purged or lost, and `run_not_found`.
 */
export async function resumedRun(
  engine: Pick<Engine, 'sessions' | 'runs'>,
  owner: string,
  lastEventId: string,
  known: SessionRecord | null = null,
): Promise<ResumedRun> {
  const { sessionId, seq } = parseEventId(lastEventId)
  const session = known?.id === sessionId ? known : await engine.sessions.find(owner, sessionId)
  if (session === null) throw sessionNotFound(sessionId)
  const seen = await entryAt(engine.sessions, session.id, seq)
  if (seen.runId === null) throw runNotFound(lastEventId)
  return { run: await engine.runs.get(owner, seen.runId), session, seen, after: seq }
}
