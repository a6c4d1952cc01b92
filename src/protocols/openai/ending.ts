import { ServerError } from '../../domain/errors.ts'
import type { TerminalEvent } from '../../domain/event.ts'
import { failureOf } from '../answer/answer-failure.ts'
import { errorOf, isCutByLength, outcomeOf, type RunAnswer } from '../answer/run-answer.ts'

/** How a run ended, in the ways that OpenAI's clients tell apart. */
export type Ending =
  | { kind: 'complete' }
  | { kind: 'filtered' }
  /** At the model's limit of tokens. */
  | { kind: 'cut' }
  | { kind: 'failed'; error: ServerError }

export function endingOf(answer: Pick<RunAnswer, 'outcome' | 'error' | 'cutByLength'>): Ending {
  // To these clients a refusal is a way to end, not a failure: what was said before it stays.
  if (answer.error?.code === 'model_refused') return { kind: 'filtered' }
  const error = answer.outcome === 'waiting' ? waits() : failureOf(answer)
  if (error !== null) return { kind: 'failed', error }
  return { kind: answer.cutByLength ? 'cut' : 'complete' }
}

export const endingOfEvent = (terminal: TerminalEvent): Ending =>
  endingOf({
    outcome: outcomeOf(terminal),
    error: terminal.type === 'RUN_ERROR' ? errorOf(terminal) : null,
    cutByLength: isCutByLength(terminal),
  })

const waits = (): ServerError =>
  new ServerError('approval_pending', 'The run waits for a person to decide; it goes on once that is done.')
