import { ServerError } from '../../domain/errors.ts'
import type { TerminalEvent } from '../../domain/event.ts'
import type { RunRecord } from '../../domain/run.ts'
import { errorOf, isCutByLength, outcomeOf, type RunAnswer, waitsFor } from '../../domain/run-answer.ts'
import { failureOf } from '../shared/answer/answer-failure.ts'

/** How a run ended, in the ways that OpenAI's clients tell apart. */
export type Ending =
  | { kind: 'complete' }
  /** The caller has to run its tools. */
  | { kind: 'calls' }
  | { kind: 'filtered' }
  /** At the model's limit of tokens. */
  | { kind: 'cut' }
  | { kind: 'failed'; error: ServerError }

type EndedRun = Pick<RunRecord, 'id' | 'sessionId'>
type Ended = Pick<RunAnswer, 'outcome' | 'error' | 'cutByLength' | 'approvalIds' | 'clientCallIds'>

export function endingOf(run: EndedRun, answer: Ended): Ending {
  // To these clients a refusal is a way to end, not a failure: what was said before it stays.
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

// OpenAI's clients know no answer that comes later, so they are told in words.
function waits({ id, sessionId }: EndedRun, approvalIds: readonly string[]): ServerError {
  return new ServerError(
    'approval_pending',
    `Run ${id} waits for a person to decide (approval ${approvalIds.join(', ')}) and goes on by itself once that is done. Do not send the request again; the answer will be in GET /sessions/${sessionId}.`,
    { details: { run_id: id, approval_ids: approvalIds } },
  )
}
