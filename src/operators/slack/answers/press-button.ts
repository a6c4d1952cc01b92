// Somebody pressed a button of ours.

import { isWaiting, type PersonRecord } from '../../../domain/records/record.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import { actionsOf } from '../../../supervision/records/describe-record.ts'
import type { ButtonValue } from '../button-values.ts'
import type { SlackMessage } from '../cards/blocks.ts'
import { ACTION_ID_PREFIX, actionIn, type CardAction, needsText } from '../cards/card-actions.ts'
import { type confirmMessage, rememberMessage } from '../cards/messages.ts'
import { type AnswerContext, askForText, isDangerous, secondLook, tell } from './answer-context.ts'
import { asksAgain, ourFailure, says } from './answer-texts.ts'
import type { RecordAnswer } from './card-answers.ts'
import type { Refusal } from './guard.ts'
import type { Press } from './payloads.ts'
import { COMMAND_ACTION, type TakeCommand, verbOf } from './take-command.ts'

interface Pressed {
  by: Caller
  press: Press
  value: ButtonValue
}

export function createPressButton(context: AnswerContext, takeCommand: TakeCommand) {
  const { api, cards, buttons, services, guard, kept, records, clock, logger } = context

  /** In place of the message with the buttons if only this person sees it, else below it. */
  async function reply({ from, thread, isPrivate, responseUrl }: Press, message: SlackMessage): Promise<void> {
    const place = { ...from, thread }
    if (!isPrivate || responseUrl === null) return tell(context, place, message)
    try {
      await api.respond(responseUrl, message, { replace: true })
    } catch (error) {
      logger.warn('a question in Slack could not be replaced by its answer', { room: from.room, error })
      await tell(context, place, message)
    }
  }

  async function refuse(press: Press, why: Refusal): Promise<void> {
    // Only what our own button says: anybody can send anything.
    const value = buttons.read(press.value)
    const isCommand = value?.action === COMMAND_ACTION
    const tried = value === null ? 'unknown' : isCommand ? verbOf(value.recordId) : value.action
    const record = value === null || isCommand ? {} : { recordId: value.recordId.slice(0, 64) }
    await guard.refused({ from: press.from, what: 'button', tried, ...record }, why)
  }

  async function pressed({ by, press, value }: Pressed): Promise<void> {
    const { room } = press.from
    if (value.expiresAt !== null && value.expiresAt <= clock.now()) {
      return reply(press, says('This question is too old. Nothing was decided: begin again with the card.'))
    }
    if (value.action === COMMAND_ACTION) return takeCommand.confirmed(by, press, value.recordId)
    const wait = await services.find(value.recordId)
    if (wait === null) return reply(press, says('This is gone. Nothing was decided.'))
    if ((await context.roomOf(wait.sessionId)) !== room) return refuse(press, 'other_room')
    await answered({ by, press, value }, wait)
  }

  async function answered({ by, press, value }: Pressed, wait: PersonRecord): Promise<void> {
    const { room, user } = press.from
    const { thread } = press
    if (value.action === 'cancel') {
      await kept.endEdit(room, wait.id, user, wait.sessionId)
      return reply(press, says('Nothing was decided.'))
    }
    if (value.action === 'confirm:approve') return confirmed({ by, press, value }, wait)
    if (/^(remember|refuse)(:|$)/.test(value.action)) return remembered({ by, press, value }, wait)
    const action = value.action as CardAction
    const actions = actionsOf(wait)
    if (actionIn(actions, action) === undefined) return refuse(press, 'forged')
    if (needsText(actions, action) && thread !== null) {
      const participant = { room, user, thread, sessionId: wait.sessionId }
      return askForText(context, by, participant, wait, { action, digest: value.digest })
    }
    if (action === 'approve' && wait.wait === 'approval' && isDangerous(wait)) {
      return reply(press, await secondLook(context, by, { room, user, thread }, wait, value.digest ?? ''))
    }
    await give({ by, press, value }, wait, { action, digest: value.digest })
  }

  /** The first press shows what may be remembered, the second is a yes or a no that is. */
  async function remembered({ by, press, value }: Pressed, wait: PersonRecord): Promise<void> {
    const [verb, at, wanted] = value.action.split(':')
    const isYes = verb === 'remember'
    if (wait.wait !== 'approval' || (at !== undefined && value.user === null)) return refuse(press, 'forged')
    const { room, user } = press.from
    const place = { room, user, thread: press.thread }
    const { digest } = value
    if (at === undefined) {
      const ask: typeof confirmMessage = (view, look) => rememberMessage(view, look, isYes ? 'remember' : 'refuse')
      return reply(press, await secondLook(context, by, place, wait, digest ?? '', ask))
    }
    const offer = (await services.viewOf(wait)).remember
    const scope = offer?.scopes.find((one) => one === wanted)
    const match = offer?.matches[Number(at)]?.match
    if (scope === undefined || (isYes && offer?.yes !== true)) return reply(press, asksAgain(false))
    const remember = { scope, ...(match === undefined ? {} : { match }) }
    await give({ by, press, value }, wait, { action: isYes ? 'approve' : 'reject', digest, remember })
  }

  /** The second yes: to the record as it was shown, or to arguments that this person has edited. */
  async function confirmed({ by, press, value }: Pressed, wait: PersonRecord): Promise<void> {
    const { room, user } = press.from
    if (value.user === null || wait.wait !== 'approval') return refuse(press, 'forged')
    if (value.digest === wait.digest || !isWaiting(wait)) {
      await give({ by, press, value }, wait, { action: 'approve', digest: value.digest })
      return
    }
    const edit = await kept.edit(room, wait.id, user)
    if (edit === null || edit.digest !== value.digest || edit.base !== wait.digest) {
      await cards.refresh(wait.id)
      return reply(press, asksAgain(false))
    }
    const edited = { arguments: edit.arguments, digest: edit.digest }
    const isDone = await give({ by, press, value }, wait, { action: 'edit', digest: edit.base, edited })
    if (isDone) await kept.endEdit(room, wait.id, user, wait.sessionId)
  }

  async function give({ by, press }: Pressed, wait: PersonRecord, answer: RecordAnswer): Promise<boolean> {
    const { isDone, isOnCard, message } = await records.answer(by, wait, answer)
    // A button that only this person sees has to go.
    if (press.isPrivate || !isOnCard) await reply(press, message)
    return isDone
  }

  return async (press: Press): Promise<void> => {
    const checked = await guard.check(press.from)
    if ('refusal' in checked) return refuse(press, checked.refusal)
    const { room, user } = press.from
    const value = buttons.read(press.value)
    const isOurs =
      value !== null &&
      value.room === room &&
      `${ACTION_ID_PREFIX}${value.action}` === press.actionId &&
      (value.user === null || value.user === user)
    if (!isOurs) {
      await refuse(press, 'forged')
      return reply(
        press,
        says('This button is not valid here. Nothing was decided: use the newest card, or the console.'),
      )
    }
    try {
      await pressed({ by: checked.caller, press, value })
    } catch (error) {
      logger.error('a button in Slack could not be answered', { room, user, error })
      await reply(press, ourFailure())
    }
  }
}
