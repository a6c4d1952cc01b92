// One run's events to one reader, to the end: the stream closes with a terminal event, whatever happened on the way.

import type { Clock } from '../../../domain/clock.ts'
import type { Entry } from '../../../domain/entry.ts'
import { isTerminalText, type RunEvent } from '../../../domain/event.ts'
import type { RunRecord } from '../../../domain/run.ts'
import type { Runs } from '../../../engine/ports/runs.ts'
import type { EventReader } from './open-event-stream.ts'
import { streamEntries } from './stream-entries.ts'
import { failureEvent, suspensionEvent } from './terminal-event.ts'

export interface StreamDeps {
  engine: { runs: Pick<Runs, 'follow' | 'get'> }
  clock: Pick<Clock, 'now'>
}

/**
 * Sends the events of a run after `after`. Resolves at the end of the run, or when the reader is gone; never rejects. `follow` reads
 * the events, if not as they are stored.
 */
export async function streamRun(
  { engine, clock }: StreamDeps,
  run: RunRecord,
  after: number,
  reader: EventReader,
  follow: Runs['follow'] = engine.runs.follow,
): Promise<void> {
  const { stream, encoder, signal, log } = reader
  let last: RunEvent
  try {
    const holder = { owner: run.owner, onOverdue: () => stream.drop() }
    const target = { sessionId: run.sessionId, runId: run.id, after, ...knownStart(run), holder }
    const source = follow(target, signal)
    const { reading, inRun, lastSeq } = await streamEntries(source, run.sessionId, reader, {
      lastSeq: after,
      inRun: true,
    })
    if (!reading || signal.aborted || !inRun) return
    // The engine stops showing a run before its end only when the server stops.
    if (isOver(await engine.runs.get(run.owner, run.id), lastSeq)) return
    last = suspensionEvent(`/runs/${run.id}/events`, { sessionId: run.sessionId, seq: lastSeq }, clock.now())
  } catch (error) {
    if (signal.aborted) return
    last = failureEvent(error, clock.now(), log)
  }
  await stream.write(encoder.events([last]))?.catch(() => {})
}

/** Spares the engine a lookup of the run. */
export const knownStart = (run: RunRecord) => (run.firstSeq === null ? {} : { firstSeq: run.firstSeq })

/** Where a run's stream begins: right before its first event, however long the session is. */
export const beforeFirst = (run: RunRecord): number => (run.firstSeq === null ? 0 : run.firstSeq - 1)

/** Whether this is the last event of the run. Facts may follow it: a run that waited can be cancelled. */
export const isEndOf = (run: RunRecord, { runId, kind, data }: Entry): boolean =>
  runId === run.id && kind === 'event' && isTerminalText(data)

/** Whether a reader that has seen `after` has seen all of the run: it has ended, or waits and has ended on the wire. */
export function isOver(run: RunRecord, after: number): boolean {
  return run.status !== 'queued' && run.status !== 'running' && run.lastSeq !== null && after >= run.lastSeq
}
