import { ServerError } from '../../../domain/errors.ts'
import { type ClientCall, clientCallId } from '../../../domain/records/record.ts'
import { type TerminalEvent, typeOfEventText } from '../../../domain/session/event.ts'
import { isFinished, type RunRecord } from '../../../domain/session/run.ts'
import { createRunFold, foldedTypes, type RunAnswer, waitsFor } from '../../../domain/session/run-answer.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { AcceptedRun } from '../../../engine/ports/runs.ts'
import { ClientGone } from '../../../http/client-gone.ts'
import { beforeFirst, knownStart } from '../events/stream-events.ts'
import { entriesUpTo } from './stream-answer.ts'

type AnswerSource = Pick<Engine, 'runs'>

/**
 * Waits for the end of a run and returns its answer. A failed run is an answer with `error`. While it waits it counts as a reader of
 * the run; after an abort it does not, and the grace time decides about the run. Throws `ClientGone` after an abort, `shutting_down`
 * if the server stops before the run ends, `run_not_found` if the session was deleted meanwhile.
 */
export async function collectAnswer(
  engine: AnswerSource,
  { run }: Pick<AcceptedRun, 'run'>,
  signal: AbortSignal,
): Promise<RunAnswer> {
  const fold = createRunFold()
  const target = { sessionId: run.sessionId, runId: run.id, after: beforeFirst(run), ...knownStart(run) }
  for await (const batch of engine.runs.follow(target, signal)) {
    for (const { kind, data } of batch) {
      if (kind === 'event' && foldedTypes.has(typeOfEventText(data))) fold.add(JSON.parse(data))
    }
  }
  if (signal.aborted) throw new ClientGone()
  const answer = fold.answer()
  if (answer !== null) return answer
  throw await suspension(engine, run)
}

/** The server stops before the run ends. Throws `run_not_found`. */
export async function suspension(engine: AnswerSource, { owner, id, sessionId }: RunRecord): Promise<ServerError> {
  await engine.runs.get(owner, id)
  return new ServerError(
    'shutting_down',
    `The server is stopping. The run continues after its restart: read GET /runs/${id}/events.`,
    { details: { session_id: sessionId, run_id: id, retry_after_seconds: 5 } },
  )
}

/**
 * Reads the answer of a run from the log, including the runs that continued it; null while one of them is active or waits. `goesOn`
 * decides by the answer so far whether the next run belongs to it.
 */
export async function readAnswer(
  engine: Pick<Engine, 'sessions' | 'runs'>,
  first: RunRecord,
  goesOn: (soFar: RunAnswer) => boolean = () => true,
): Promise<RunAnswer | null> {
  const fold = createRunFold()
  for (let run = first; ; ) {
    // A waiting run has ended on the wire, so its answer can be read.
    if (!isFinished(run.status) && run.status !== 'waiting') return null
    for await (const { kind, data } of entriesUpTo(engine, [run], run.lastSeq ?? 0)) {
      if (kind === 'event' && foldedTypes.has(typeOfEventText(data))) fold.add(JSON.parse(data))
    }
    const answer = fold.answer()
    if (answer === null || answer.outcome !== 'waiting' || !goesOn(answer)) return answer
    const next = await engine.runs.continuation(run)
    if (next === null) return run.status === 'waiting' ? null : answer
    run = next
  }
}

/** The calls that the end of a run leaves to the client, whether or not they have been answered since. */
export function clientCallsOf(
  engine: Pick<Engine, 'waits'>,
  owner: string,
  terminal: TerminalEvent,
): Promise<ClientCall[]> {
  return clientCalls(engine, owner, waitsFor(terminal).clientCallIds)
}

export const clientCalls = (
  engine: Pick<Engine, 'waits'>,
  owner: string,
  callIds: readonly string[],
): Promise<ClientCall[]> => Promise.all(callIds.map((id) => engine.waits.clientCall(owner, clientCallId(id))))
