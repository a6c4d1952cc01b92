import { ServerError } from '../../../domain/errors.ts'
import { typeOfEventText } from '../../../domain/event.ts'
import { isFinished, type RunRecord } from '../../../domain/run.ts'
import { createRunFold, foldedTypes, type RunAnswer } from '../../../domain/run-answer.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { AcceptedRun } from '../../../engine/ports/runs.ts'
import { ClientGone } from '../../../http/client-gone.ts'
import { beforeFirst, knownStart } from '../events/stream-events.ts'
import { entriesUpTo } from './stream-answer.ts'

export type AnswerSource = Pick<Engine, 'runs'>

/**
 * Waits for a run's end and gives its answer, whatever the end is: a failed run is an answer with `error`. While it waits the
 * run has a reader; when the signal aborts it stops reading, and the grace time decides about the run.
 * Throws `ClientGone` after an abort, `shutting_down` when the server stops before the run's end, `run_not_found` when its
 * session was deleted meanwhile.
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
  const { id } = await engine.runs.get(run.owner, run.id)
  throw new ServerError(
    'shutting_down',
    `The server is stopping. The run goes on after its restart: read GET /runs/${id}/events.`,
    { details: { session_id: run.sessionId, run_id: id, retry_after_seconds: 5 } },
  )
}

/**
 * The answer of a run as the log has it, with what the runs said that went on from it; null while one of them is at work or
 * waits. `goesOn` tells, by the answer so far, whether the next one is part of it.
 */
export async function readAnswer(
  engine: Pick<Engine, 'sessions' | 'runs'>,
  first: RunRecord,
  goesOn: (soFar: RunAnswer) => boolean = () => true,
): Promise<RunAnswer | null> {
  const fold = createRunFold()
  for (let run = first; ; ) {
    // On the wire a waiting run has ended, and has said what it waits for.
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
