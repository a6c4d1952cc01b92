// What everything that people do in Slack has in common: where they are, and how they are told something.

import { isAtLeast } from '../../../domain/agent/tool-settings.ts'
import type { Approval, PersonRecord } from '../../../domain/records/record.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import { actionsOf } from '../../../supervision/records/describe-record.ts'
import type { SlackMessage } from '../cards/blocks.ts'
import type { CardLook } from '../cards/card.ts'
import { type CardAction, labelOf } from '../cards/card-actions.ts'
import { confirmMessage } from '../cards/messages.ts'
import { asksAgain, notAsText, says } from './answer-texts.ts'
import type { CardAnswers } from './card-answers.ts'
import type { SlackAnswersDeps } from './create-slack-answers.ts'
import type { Guard } from './guard.ts'
import { type KeptNotes, type Participant, TEXT_MINUTES } from './kept-notes.ts'
import { isOneValue } from './question-answer.ts'

type OfSlackAnswers = 'api' | 'cards' | 'buttons' | 'services' | 'clock' | 'logger'

export interface AnswerContext extends Pick<SlackAnswersDeps, OfSlackAnswers> {
  guard: Guard
  kept: KeptNotes
  records: CardAnswers
  /** The room that a session reports to; null: none, or there is no such session. */
  roomOf: (sessionId: string) => Promise<string | null>
}

/** Where a person is. Nobody can be asked for a text where there is no thread. */
export type Place = Pick<Participant, 'room' | 'user'> & { thread: string | null }

const CONFIRM_MS = 5 * 60_000

/** Says something that only this person sees. It may get lost: the card has what counts. */
export async function tell({ api, logger }: AnswerContext, { room, user, thread }: Place, message: SlackMessage) {
  try {
    await api.whisper(room, user, message, thread)
  } catch (error) {
    logger.warn('somebody in Slack could not be told what became of their answer', { room, user, error })
  }
}

/** The values of buttons that only this person may press, for a while. */
export const ownButtons = (
  { buttons, clock }: Pick<AnswerContext, 'buttons' | 'clock'>,
  { room, user }: Place,
  { recordId, digest }: { recordId: string; digest: string | null },
  lifeMs = CONFIRM_MS,
): Pick<CardLook, 'buttonValue'> => ({
  buttonValue: (action) => buttons.value({ room, recordId, digest, action, user, expiresAt: clock.now() + lifeMs }),
})

/** A yes to something dangerous is asked for twice. */
export const isDangerous = (wait: PersonRecord): boolean => wait.wait === 'approval' && isAtLeast(wait.risk, 'high')

/** The question whether the person really means yes, or why it is not asked. Nothing is decided by it. */
export async function secondLook(
  context: AnswerContext,
  by: Caller,
  place: Place,
  wait: Approval,
  digest: string,
  ask = confirmMessage,
): Promise<SlackMessage> {
  const { services, records, cards } = context
  const refusal = (await records.refusalFor(by, wait, 'approve')) ?? (digest === wait.digest ? null : asksAgain(false))
  if (refusal !== null) {
    await cards.refresh(wait.id)
    return refusal
  }
  return ask(await services.viewOf(wait), ownButtons(context, place, { recordId: wait.id, digest }))
}

/** From now on the person's next reply in the thread is the text. */
export async function askForText(
  context: AnswerContext,
  by: Caller,
  participant: Participant,
  wait: PersonRecord,
  { action, digest }: { action: CardAction; digest: string | null },
): Promise<void> {
  const { services, kept, records, cards, clock } = context
  const refusal = await records.refusalFor(by, wait, action)
  if (refusal !== null) {
    await cards.refresh(wait.id)
    return tell(context, participant, refusal)
  }
  const question = wait.wait === 'approval' ? wait.question : undefined
  if (question !== undefined && !isOneValue(question.schema)) {
    return tell(context, participant, notAsText('This question has several fields.', services.link(wait.id)))
  }
  const until = clock.now() + TEXT_MINUTES * 60_000
  // Only one text is expected of a person in a thread.
  const before = await kept.expected(participant)
  if (before !== null && before.recordId !== wait.id) await cards.refresh(before.recordId)
  await kept.expect(participant, { recordId: wait.id, action, digest, until })
  await cards.refresh(wait.id, { type: 'awaiting_text', by: by.user, action })
  await tell(
    context,
    participant,
    says(
      `Your next reply in this thread is the text for “${labelOf(actionsOf(wait), action)}”. You have ${TEXT_MINUTES} minutes. To write none, reply with cancel.`,
    ),
  )
}
