import { ServerError } from '../../../domain/errors.ts'
import { typeOfEventText } from '../../../domain/event.ts'
import { createRunFold, foldedTypes, type RunAnswer } from '../../../domain/run-answer.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { AcceptedRun } from '../../../engine/ports/runs.ts'
import { ClientGone } from '../../../http/client-gone.ts'
import { beforeFirst, knownStart } from '../events/stream-run.ts'

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
