import { ServerError } from '../../domain/errors.ts'
import type { RunEvent, TerminalEvent } from '../../domain/session/event.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { errorOf, isCutByLength, outcomeOf, type RunAnswer, waitsFor } from '../../domain/session/run-answer.ts'
import { failureOf } from '../shared/answer/answer-failure.ts'
import type { Ask, ClientCallEncoder } from './answer-run.ts'
import { offeredTools } from './caller-tools.ts'

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

/**
 * How much of what the agent says is shown. `last`: a client that asked for JSON parses the whole text, so it gets only the last message,
 * without text beside a call and without attempts that did not match the schema. `none`: a client that demands a call gets no words
 * in its place.
 */
type ShownText = 'all' | 'last' | 'none'

export const shownText = ({ format, callerTools }: Pick<Ask, 'format' | 'callerTools'>): ShownText =>
  offeredTools(callerTools).mustCall ? 'none' : format === null ? 'all' : 'last'

export function shownAnswer(answer: RunAnswer, shown: ShownText): RunAnswer {
  if (shown === 'all') return answer
  const messages = shown === 'last' ? answer.messages.slice(-1) : []
  return { ...answer, messages, text: messages[0]?.text ?? '' }
}

/** The same for a stream. Which message is the last is known only at the end, so text is held back until then. */
export function encodeShown(encoder: ClientCallEncoder, shown: ShownText): ClientCallEncoder {
  if (shown === 'all') return encoder
  let held: RunEvent[] = []
  let heldId: string | null = null
  return {
    ...encoder,
    encode(event) {
      switch (event.type) {
        case 'TEXT_MESSAGE_START':
        case 'TEXT_MESSAGE_CONTENT':
        case 'TEXT_MESSAGE_END':
          if (event.messageId !== heldId) held = []
          heldId = event.messageId
          if (shown === 'last') held.push(event)
          return []
        case 'RUN_FINISHED':
        case 'RUN_ERROR':
          return [...held.splice(0), event].flatMap((one) => encoder.encode(one))
        default:
          return encoder.encode(event)
      }
    },
  }
}
