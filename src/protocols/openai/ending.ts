import { ServerError } from '../../domain/errors.ts'
import type { TerminalEvent } from '../../domain/event.ts'
import type { RunRecord } from '../../domain/run.ts'
import { errorOf, isCutByLength, outcomeOf, type RunAnswer, waitsFor } from '../../domain/run-answer.ts'
import { failureOf } from '../shared/answer/answer-failure.ts'

/** The ways to end that OpenAI's clients distinguish. */
export type Ending =
  | { kind: 'complete' }
  /** The caller has to run its tools. */
  | { kind: 'calls' }
  | { kind: 'filtered' }
  /** At the model's token limit. */
  | { kind: 'cut' }
  | { kind: 'failed'; error: ServerError }

type EndedRun = Pick<RunRecord, 'id' | 'sessionId'>
type Ended = Pick<RunAnswer, 'outcome' | 'error' | 'cutByLength' | 'approvalIds' | 'clientCallIds'>

export function endingOf(run: EndedRun, answer: Ended): Ending {
  // For these clients a refusal is an ending, not a failure: the text before it counts.
  if (answer.error?.code === 'model_refused') return { kind: 'filtered' }
  if (answer.clientCallIds.length > 0) return { kind: 'calls' }
  const error = answer.outcome === 'waiting' ? waits(run, answer.approvalIds) : failureOf(answer)
  if (error !== null) return { kind: 'failed', error }
  return { kind: answer.cutByLength ? 'cut' : 'complete' }
}

export const endingOfEvent = (run: EndedRun, terminal: TerminalEvent): Ending =>
  endingOf(run, {
    outcome: outcomeOf(terminal),
    error: terminal.type === 'RUN_ERROR' ? errorOf(terminal) : null,
    cutByLength: isCutByLength(terminal),
    ...waitsFor(terminal),
  })

// OpenAI's clients cannot wait for a later answer, so the message explains it.
function waits({ id, sessionId }: EndedRun, approvalIds: readonly string[]): ServerError {
  return new ServerError(
    'approval_pending',
    `Run ${id} waits for a person to decide (approval ${approvalIds.join(', ')}) and continues after the decision. Do not send the request again; the answer will be in GET /sessions/${sessionId}.`,
    { details: { run_id: id, approval_ids: approvalIds } },
  )
}
