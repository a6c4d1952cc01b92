// Hands a person's answer to the part that decides, and shows on the card what goes on.

import type { Caller, Decision } from '../../../domain/decision.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Logger } from '../../../domain/logger.ts'
import { gatheredYeses } from '../../../domain/quorum.ts'
import { type Approval, isSupervised, isWaiting, type PersonRecord } from '../../../domain/records/record.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { Approvals } from '../../../supervision/approvals/approvals.ts'
import type { NoteShown } from '../../../supervision/approvals/note-shown.ts'
import type { NoteRefused } from '../../../supervision/oversight/note-refused.ts'
import type { Prompts } from '../../../supervision/prompts/create-prompts.ts'
import { choicesOf } from '../../../supervision/records/question-choices.ts'
import { checkText } from '../../../supervision/sessions/check-text.ts'
import { channelOf, type Operators, refuseForeignCommand } from '../../../supervision/sessions/may-command.ts'
import type { Stalls } from '../../../supervision/stalls/stalls.ts'
import type { SlackMessage } from '../cards/blocks.ts'
import { type CardAction, type CardSubject, isChoice } from '../cards/card.ts'
import type { SlackCards } from '../slack-api.ts'
import {
  asksAgain,
  counted,
  done,
  needsPasskey,
  ourFailure,
  says,
  saysWhy,
  tooLate,
  unclearFailure,
} from './answer-texts.ts'

/** What answers work with. */
export interface AnswerDesk {
  approvals: Pick<Approvals, 'decide'>
  prompts: Pick<Prompts, 'decide' | 'resume'>
  stalls: Pick<Stalls, 'nudge' | 'dismiss' | 'stop'>
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
  /** As its card is made from. */
  subjectOf(wait: PersonRecord): Promise<CardSubject>
}

export interface RecordAnswer {
  action: CardAction
  /** Digest of what the person was shown; null: the record has none. */
  digest: string | null
  /** A reason, an instruction, or the words of a nudge. */
  text?: string
  /** The answer to a question. */
  result?: unknown
  /** In place of those that the agent wrote, and the digest of the call with them. */
  edited?: { arguments: Record<string, unknown>; digest: string }
}

export interface Answered {
  isDone: boolean
  message: SlackMessage
  /** The card says it too. */
  isOnCard: boolean
}

interface AnswerRecordDeps {
  desk: AnswerDesk
  cards: Pick<SlackCards, 'refresh'>
  operators: Operators
  noteRefused: NoteRefused
  clock: { now(): number }
  logger: Logger
}

/** A second nudge within this time is the same press twice. */
const NUDGE_AGAIN_MS = 10_000

/** Whether this kind of record can be answered so. */
export function fits(wait: PersonRecord, action: CardAction): boolean {
  switch (action) {
    case 'accept':
      return wait.wait === 'approval' && wait.kind !== 'question'
    case 'reject':
      return wait.wait === 'approval'
    case 'continue':
    case 'refine':
      return wait.wait === 'prompt'
    case 'resume':
    case 'resume_with_text':
      return wait.wait === 'standby'
    case 'nudge':
    case 'nudge_with_text':
    case 'dismiss':
      return wait.wait === 'alert'
    case 'stop':
      return wait.wait !== 'approval'
    default:
      // An answer to a question, written or chosen.
      return wait.wait === 'approval' && wait.kind === 'question'
  }
}

export function createAnswerRecord({ desk, cards, operators, noteRefused, clock, logger }: AnswerRecordDeps) {
  /** Never throws: a refusal is what the person is told. */
  async function answer(by: Caller, wait: PersonRecord, given: RecordAnswer): Promise<Answered> {
    const refusal = await refusalFor(by, wait, given.action)
    if (refusal !== null) {
      // What the person still saw was old.
      await cards.refresh(wait.id)
      return { isDone: false, message: refusal, isOnCard: false }
    }
    const working = cards.refresh(wait.id, { type: 'working', by: by.user, action: given.action })
    try {
      const shown = given.edited?.digest ?? given.digest
      if (wait.wait === 'approval') await desk.noteShown(by, wait.id, shown ?? wait.digest, 'slack')
      const approval = await handIn(by, wait, given)
      if (approval?.status !== 'pending') return { isDone: true, message: done(given.action), isOnCard: true }
      const gathered = gatheredYeses(approval)
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
      const session = await desk.session(wait.sessionId)
      if (session === null) return says('This is gone: its session was deleted.')
      if (!fits(wait, action)) return says('This cannot be answered like that.')
      if (isSupervised(wait)) refuseForeignCommand(operators, by, session.owner, clock.now() - wait.createdAt)
      if (!isWaiting(wait)) return await late(by, wait, action)
    } catch (error) {
      return explain(by, wait, action, error, isTry)
    }
    const isNudgedNow =
      wait.wait === 'alert' && wait.lastNudgeAt !== null && clock.now() - wait.lastNudgeAt < NUDGE_AGAIN_MS
    return action === 'nudge' && isNudgedNow ? says('The agent was nudged a moment ago. Give it some time.') : null
  }

  /** The approval as it is now, if it is one. */
  async function handIn(by: Caller, wait: PersonRecord, given: RecordAnswer): Promise<Approval | null> {
    const { action, text } = given
    switch (wait.wait) {
      case 'approval':
        return (await desk.approvals.decide(by, wait.id, decisionOf(wait, given))).approval
      case 'prompt':
        if (action === 'refine') await desk.prompts.decide(by, wait.id, { decision: 'refine', instruction: text ?? '' })
        else await desk.prompts.decide(by, wait.id, { decision: action === 'continue' ? 'continue' : 'stop' })
        return null
      case 'standby':
        await desk.prompts.resume(by, wait.id, { instruction: action === 'stop' ? 'stop' : (text ?? null) })
        return null
      case 'alert':
        if (action === 'dismiss') await desk.stalls.dismiss(by, wait.id)
        else if (action === 'stop') await desk.stalls.stop(by, wait.id)
        else await desk.stalls.nudge(by, wait.id, text)
        return null
    }
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
      if (!(error instanceof ServerError) || error.code === 'internal_error') {
        logger.error('an answer from Slack failed', { ...fields, error })
      }
      if (error instanceof ServerError && error.code === 'approval_changed') {
        return asksAgain(error.details.approval_id !== wait.id)
      }
      if (isTry && error instanceof ServerError && (error.code === 'passkey_required' || error.code === 'forbidden')) {
        const tried = { what: 'answer', tried: action, why: error.code, session: wait.sessionId }
        const who = { by: by.user, channel: channelOf(by), credential: by.credential }
        await noteRefused({ ...who, ...tried, details: { record: wait.id, reason: error.message } })
      }
      if (error instanceof ServerError && error.code === 'passkey_required') return needsPasskey(desk.link(wait.id))
      if (error instanceof ServerError && error.code === 'forbidden') return saysWhy(error.message)
      const now = await desk.find(wait.id)
      if (now !== null && !isWaiting(now)) return await late(by, now, action)
      if (!(error instanceof ServerError) || error.code === 'internal_error') return ourFailure()
      return saysWhy(error.message, 'Nothing was decided by this.')
    } catch (second) {
      logger.error('what became of an answer from Slack could not be read', { ...fields, error: second })
      return unclearFailure()
    }
  }

  async function late(by: Caller, wait: PersonRecord, action: CardAction): Promise<SlackMessage> {
    const { session } = await desk.subjectOf(wait)
    return tooLate(wait, session, action, by.user)
  }

  return { answer, refusalFor, explain }
}

export type AnswerRecord = ReturnType<typeof createAnswerRecord>

function decisionOf(wait: Approval, { action, digest, text, result, edited }: RecordAnswer): Decision {
  const shown = digest === null ? {} : { digest }
  if (action === 'reject') {
    if (text !== undefined) checkText(text, 'reason')
    return { decision: 'reject', ...shown, ...(text === undefined ? {} : { reason: text }) }
  }
  if (action === 'accept') {
    return { decision: 'approve', ...shown, ...(edited === undefined ? {} : { arguments: edited.arguments }) }
  }
  return { decision: 'respond', ...shown, result: isChoice(action) ? chosen(wait, action) : result }
}

function chosen({ question }: Approval, action: `choose:${number}`): unknown {
  const choices = question === undefined ? [] : choicesOf(question.schema)
  const choice = choices[Number(action.slice('choose:'.length))]
  if (choice === undefined) throw new ServerError('invalid_request', 'The question has no such answer any more.')
  return choice.answer
}
