import type { RunEvent } from '../../../domain/event.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { EventReader } from './open-event-stream.ts'
import { streamEntries } from './stream-entries.ts'
import type { StreamDeps } from './stream-run.ts'
import { failureEvent, suspensionEvent } from './terminal-event.ts'

/**
 * Sends all events of a session after `from.lastSeq`, run after run, until the reader goes or the server stops. `inRun`
 * says whether the reader joins in the middle of a run. Never rejects.
 */
export async function streamSession(
  { engine, clock }: StreamDeps,
  session: SessionRecord,
  from: { lastSeq: number; inRun: boolean },
  reader: EventReader,
): Promise<void> {
  const { stream, encoder, signal, log } = reader
  let last: RunEvent
  try {
    const holder = { owner: session.owner, onOverdue: () => stream.drop() }
    const source = engine.runs.follow({ sessionId: session.id, after: from.lastSeq, holder }, signal)
    const { reading, inRun, lastSeq } = await streamEntries(source, session.id, reader, from)
    if (!reading || signal.aborted || !inRun) return
    last = suspensionEvent(`/sessions/${session.id}/events`, { sessionId: session.id, seq: lastSeq }, clock.now())
  } catch (error) {
    if (signal.aborted) return
    last = failureEvent(error, clock.now(), log)
  }
  await stream.write(encoder.events([last]))?.catch(() => {})
}
