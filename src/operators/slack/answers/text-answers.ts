// Answers that are written as text: at once, or after a button has asked for the text.

import { isWaiting, type PersonRecord } from '../../../domain/records/record.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import { type AnswerContext, tell } from './answer-context.ts'
import { notAsText, says } from './answer-texts.ts'
import type { RecordAnswer } from './card-answers.ts'
import type { ExpectedText, Seat } from './kept-notes.ts'
import type { Heard } from './meant-record.ts'
import { isOneValue, questionAnswer } from './question-answer.ts'

/** Answers the record, and tells the person what came of it. False: their text was not taken. */
export async function giveAnswer(
  context: AnswerContext,
  { by, seat }: Heard,
  wait: PersonRecord,
  answer: RecordAnswer,
): Promise<boolean> {
  const { isDone, message } = await context.records.answer(by, wait, answer)
  await tell(context, seat, message)
  return isDone
}

/** The text is the answer to a question, if it fits. */
export async function answerQuestion(
  context: AnswerContext,
  heard: Heard,
  wait: PersonRecord,
  text: string,
  digest: string | null,
): Promise<boolean> {
  const question = wait.wait === 'approval' ? wait.question : undefined
  const given = question === undefined ? null : questionAnswer(question.schema, text)
  if (given !== null || !isWaiting(wait)) {
    return giveAnswer(context, heard, wait, { action: 'answer', digest, result: given?.value })
  }
  const isOne = question !== undefined && isOneValue(question.schema)
  const message = isOne
    ? says('Your text does not fit the question. Nothing was answered. The card says which values it takes.')
    : notAsText('This question has several fields.', context.desk.link(wait.id))
  await tell(context, heard.seat, message)
  return false
}

/** The text that a button asked this person for. Null also if the person has answered in another way since: then they write about something else. */
export async function expectedOf({ kept, desk }: AnswerContext, by: Caller, seat: Seat): Promise<ExpectedText | null> {
  const expected = await kept.expected(seat)
  const wait = expected === null ? null : await desk.find(expected.recordId)
  if (wait === null || isWaiting(wait) || wait.decidedBy !== by.user) return expected
  await kept.endExpecting(seat)
  return null
}

/** The reply is the text that a button asked for. */
export async function takeExpected(
  context: AnswerContext,
  heard: Heard,
  expected: ExpectedText,
  text: string,
): Promise<void> {
  const { cards, desk, kept, clock } = context
  const { seat } = heard
  const { recordId, action, digest, until } = expected
  const isOver = until <= clock.now()
  if (isOver || text.toLowerCase() === 'cancel') {
    await kept.endExpecting(seat)
    await cards.refresh(recordId)
    const why = isOver ? 'The time to write the text is over' : 'No text is expected any more'
    return tell(context, seat, says(`${why}. Nothing was decided; the card still has its buttons.`))
  }
  const wait = await desk.find(recordId)
  if (wait === null) {
    await kept.endExpecting(seat)
    return tell(context, seat, says('What your text is for is gone. Nothing was decided.'))
  }
  const isTaken =
    action === 'answer'
      ? await answerQuestion(context, heard, wait, text, digest)
      : await giveAnswer(context, heard, wait, { action, digest, text })
  const now = await desk.find(recordId)
  // A text that was too long, or that did not fit, can be written again.
  if (isTaken || now === null || !isWaiting(now)) await kept.endExpecting(seat)
}
