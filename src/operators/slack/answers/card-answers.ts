// Hands a person's answer to the part that decides, and shows on the card what goes on.

import { ServerError } from '../../../domain/errors.ts'
import { isOfCodingAgent, isWaiting, type PersonRecord } from '../../../domain/records/record.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Caller, Decision } from '../../../domain/supervision/decision.ts'
import { gatheredYeses } from '../../../domain/supervision/quorum.ts'
import type { NoteShown } from '../../../supervision/approvals/looked-at.ts'
import type { AnswerRecord, GivenAnswer } from '../../../supervision/records/answer-record.ts'
import { actionsOf } from '../../../supervision/records/describe-record.ts'
import type { RecordAction, RecordView } from '../../../supervision/records/record-view.ts'
import { checkText } from '../../../supervision/sessions/check-text.ts'
import { refuseForeignCommand } from '../../../supervision/sessions/may-command.ts'
import type { SlackMessage } from '../cards/blocks.ts'
import { actionIn, type CardAction } from '../cards/card-actions.ts'
import { asksAgain, counted, needsPasskey, ourFailure, says, saysWhy, tooLate, unclearFailure } from './answer-texts.ts'
import type { SlackAnswersDeps } from './create-slack-answers.ts'

/** What answers work with. */
export interface AnswerServices {
  /** By kind of record. */
  answer: AnswerRecord
  noteShown: NoteShown
  /** Null: there is none, or it is nothing that a person answers. */
  find(recordId: string): Promise<PersonRecord | null>
  /** The newest records of a session, newest first: what waits and what is over. */
  records(sessionId: string): Promise<readonly PersonRecord[]>
  session(id: string): Promise<SessionRecord | null>
  /** Sends an agent elsewhere a message, and says when the agent gets it. Throws like `SupervisedSessions.steer`. */
  steer(by: Caller, sessionId: string, text: string): Promise<string>
  /** Address of a record in the console; null: there is none. */
  link(recordId: string): string | null
  /** As its card shows it. Throws `session_not_found`. */
  viewOf(wait: PersonRecord): Promise<RecordView>
}

export interface RecordAnswer {
  action: CardAction
  /** Digest of what the person was shown; null: the record has none. */
  digest: string | null
  /** A reason, an instruction, or the words of a nudge. */
  text?: string | undefined
  /** The answer to a question. */
  result?: unknown
  /** In place of those that the agent wrote, and the digest of the call with them. */
  edited?: { arguments: Record<string, unknown>; digest: string }
  /** What is remembered with it. */
  remember?: Decision['remember']
}

export interface Answered {
  isDone: boolean
  message: SlackMessage
  /** The card says it too. */
  isOnCard: boolean
}

/** A second nudge within this time is the same press twice. */
const NUDGE_AGAIN_MS = 10_000

export function createCardAnswers({ services, cards, operators, noteRefused, clock, logger }: SlackAnswersDeps) {
  /** Never throws: a refusal is what the person is told. */
  async function answer(by: Caller, wait: PersonRecord, given: RecordAnswer): Promise<Answered> {
    const refusal = (await refusalFor(by, wait, given.action)) ?? nudgedTwice(wait, given)
    if (refusal !== null) {
      // What the person still saw was old.
      await cards.refresh(wait.id)
      return { isDone: false, message: refusal, isOnCard: false }
    }
    const working = cards.refresh(wait.id, { type: 'working', by: by.user, action: given.action })
    try {
      const shown = given.edited?.digest ?? given.digest
      if (wait.wait === 'approval') await services.noteShown(by, wait.id, shown ?? wait.digest, 'slack')
      const { record } = await services.answer[wait.wait](by, wait.id, givenBy(wait, given))
      // A nudge leaves its record open, and so does a yes that is not enough.
      if (record.wait !== 'approval' || record.status !== 'pending') {
        return { isDone: true, message: says(actionIn(actionsOf(wait), given.action)?.done ?? ''), isOnCard: true }
      }
      const gathered = gatheredYeses(record)
      const message = counted(gathered?.yeses.length ?? 1, gathered?.needed ?? null)
      return { isDone: true, message, isOnCard: false }
    } catch (error) {
      return { isDone: false, message: await explain(by, wait, given.action, error), isOnCard: false }
    } finally {
      // In this order, so that the card does not end with "working".
      await working
      await cards.refresh(wait.id)
    }
  }

  /** Null: this person may answer it so, and it still waits. */
  async function refusalFor(
    by: Caller,
    wait: PersonRecord,
    action: CardAction,
    isTry = true,
  ): Promise<SlackMessage | null> {
    try {
      const session = await services.session(wait.sessionId)
      if (session === null) return says('This is gone: its session was deleted.')
      if (actionIn(actionsOf(wait), action) === undefined) return says('This cannot be answered like that.')
      if (isOfCodingAgent(wait)) refuseForeignCommand(operators, by, session.owner, clock.now() - wait.createdAt)
      return isWaiting(wait) ? null : await late(by, wait)
    } catch (error) {
      return explain(by, wait, action, error, isTry)
    }
  }

  /** Null: it is not the same press again. */
  function nudgedTwice(wait: PersonRecord, { action, text }: RecordAnswer): SlackMessage | null {
    const nudgedAt = 'lastNudgeAt' in wait ? wait.lastNudgeAt : null
    const isAgain = action === 'nudge' && text === undefined && nudgedAt !== null
    return isAgain && clock.now() - nudgedAt < NUDGE_AGAIN_MS
      ? says('The agent was nudged a moment ago. Give it some time.')
      : null
  }

  /** `isTry`: the person wanted to answer, so a refusal goes on record. */
  async function explain(
    by: Caller,
    wait: PersonRecord,
    action: CardAction,
    error: unknown,
    isTry = true,
  ): Promise<SlackMessage> {
    const fields = { approval_id: wait.id, session_id: wait.sessionId, user: by.user }
    try {
      const refused = error instanceof ServerError && error.code !== 'internal_error' ? error : null
      if (refused === null) logger.error('an answer from Slack failed', { ...fields, error })
      if (refused?.code === 'approval_changed') return asksAgain(refused.details.approval_id !== wait.id)
      if (refused?.code === 'passkey_required' || refused?.code === 'forbidden') {
        const tried = { what: 'answer', tried: action, why: refused.code, session: wait.sessionId }
        const who = { by: by.user, via: 'slack', credential: by.credential }
        if (isTry) await noteRefused({ ...who, ...tried, details: { record: wait.id, reason: refused.message } })
        return refused.code === 'forbidden' ? saysWhy(refused.message) : needsPasskey(services.link(wait.id))
      }
      const now = await services.find(wait.id)
      if (now !== null && !isWaiting(now)) return await late(by, now)
      return refused === null ? ourFailure() : saysWhy(refused.message, 'Nothing was decided by this.')
    } catch (second) {
      logger.error('what became of an answer from Slack could not be read', { ...fields, error: second })
      return unclearFailure()
    }
  }

  async function late(by: Caller, wait: PersonRecord): Promise<SlackMessage> {
    return tooLate((await services.viewOf(wait)).outcome, by.user)
  }

  return { answer, refusalFor, explain }
}

export type CardAnswers = ReturnType<typeof createCardAnswers>

/** What was answered, in the words of the part that decides. */
function givenBy(wait: PersonRecord, { action, digest, text, result, edited, remember }: RecordAnswer): GivenAnswer {
  const meant = actionIn(actionsOf(wait), action)
  if (meant === undefined) throw new ServerError('invalid_request', 'This cannot be answered like that.')
  if (meant.name === 'reject' && text !== undefined) checkText(text, 'reason')
  const decision = {
    ...(digest === null ? {} : { digest }),
    ...(edited === undefined ? {} : { arguments: edited.arguments }),
    ...(remember === undefined ? {} : { remember }),
    ...(meant.name === 'answer' ? { result: action === 'answer' ? result : chosen(meant, action) } : {}),
  }
  return { action: meant.name, text, decision }
}

function chosen({ choices }: RecordAction, action: CardAction): unknown {
  const choice = choices[Number(action.slice('answer:'.length))]
  if (choice === undefined) throw new ServerError('invalid_request', 'The question has no such answer any more.')
  return choice.answer
}
