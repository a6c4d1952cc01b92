// Editing before a yes: a person attaches the whole new file, or the new arguments as JSON, to a reply. What they sent is shown again,
// and nothing is decided by it.

import { hasCode, ServerError } from '../../../domain/errors.ts'
import { type Approval, actionNamesOf, isWaiting, type PersonRecord } from '../../../domain/records/record.ts'
import { argumentsObject, parseArguments } from '../../../domain/session/run-answer.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import { callDigest } from '../../../json/digest.ts'
import { shownArguments } from '../../../supervision/approvals/shown-arguments.ts'
import { describeInShort } from '../../../supervision/records/describe-record.ts'
import { DeliveryFailed } from '../../operator.ts'
import { bold, code, line, preformatted, type SlackMessage } from '../cards/blocks.ts'
import { type CardLook, markPieces } from '../cards/card.ts'
import { button, buttonRow } from '../cards/card-actions.ts'
import { editedMessage } from '../cards/messages.ts'
import { renderCard } from '../cards/render-card.ts'
import { shownName, shownProse } from '../cards/shown-text.ts'
import { type AnswerContext, ownButtons, tell } from './answer-context.ts'
import { says, whisper } from './answer-texts.ts'
import { type Participant, TEXT_MINUTES } from './kept-notes.ts'
import type { SentFile } from './payloads.ts'

const MOST_BYTES = 5_000_000
/** Of arguments. Longer ones are nothing to read in a chat. */
const MOST_ARGUMENTS = 100_000
const MOST_SHOWN = 2_500

/** What can be edited: a change of a file, and the arguments of a call. Several files are chosen from in the console. */
export const isEditable = (wait: PersonRecord): wait is Approval =>
  wait.wait === 'approval' && wait.kind !== 'changes' && isWaiting(wait) && actionNamesOf(wait).includes('edit')

export async function editRecord(
  context: AnswerContext,
  by: Caller,
  participant: Participant,
  wait: Approval,
  files: readonly SentFile[],
): Promise<void> {
  const { records, cards } = context
  const refusal = await records.refusalFor(by, wait, 'edit')
  if (refusal !== null) {
    await cards.refresh(wait.id)
    return tell(context, participant, refusal)
  }
  try {
    const text = await textOf(context, files)
    if (wait.kind === 'diff') await editChange(context, by, participant, wait, text)
    else await editArguments(context, participant, wait, text)
  } catch (error) {
    if (error instanceof DeliveryFailed) {
      context.logger.warn('a file could not be fetched from Slack', { room: participant.room, error })
      return tell(
        context,
        participant,
        says('Your file could not be fetched from Slack. Nothing was edited; send it again.'),
      )
    }
    await tell(context, participant, await records.explain(by, wait, 'edit', error))
  }
}

async function textOf({ api }: AnswerContext, files: readonly SentFile[]): Promise<string> {
  const [file, ...others] = files
  if (file === undefined || others.length > 0) {
    throw new ServerError('invalid_request', 'Attach exactly one file to a reply.')
  }
  if (file.url === null) {
    throw new ServerError('invalid_request', 'That file is not kept in Slack. Attach a file from your device.')
  }
  const tooLarge = new ServerError('invalid_request', 'The file is too large: at most 5 MB are taken.')
  if (file.size > MOST_BYTES) throw tooLarge
  const bytes = await api.download(file.url, MOST_BYTES)
  if (bytes.byteLength > MOST_BYTES) throw tooLarge
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ServerError('invalid_request', 'The file is not text in UTF-8.')
  }
}

/** The store keeps the text with the record, under a new digest. */
async function editChange(
  context: AnswerContext,
  by: Caller,
  participant: Participant,
  { id, digest }: Approval,
  content: string,
): Promise<void> {
  const { services } = context
  try {
    await services.answer.approval(by, id, { action: 'edit', decision: { onlyEdit: true, digest, content } })
  } catch (error) {
    const isKept = hasCode(error, 'approval_changed') && error.details.edited === true
    if (!isKept) throw error
    return showAgain(context, by, participant, id)
  }
  throw new Error('An edit decided something.')
}

/** On the card and in the thread for everybody, and here for the person who edited it. */
async function showAgain(context: AnswerContext, by: Caller, participant: Participant, id: string): Promise<void> {
  const { services, cards, logger } = context
  await cards.refresh(id)
  const wait = await services.find(id)
  if (wait?.wait !== 'approval') return
  const view = await services.viewOf(wait)
  const { buttonValue } = ownButtons(context, participant, { recordId: id, digest: wait.digest }, TEXT_MINUTES * 60_000)
  const look: CardLook = { detail: 'standard', link: null, mention: null, state: { type: 'open' }, buttonValue }
  await tell(context, participant, editedMessage(view, look, by.user))
  try {
    // A card may have no room for the diff, so the thread has it in any case.
    await cards.attach(id, renderCard(view, { ...look, detail: 'minimal' }).files)
  } catch (error) {
    logger.warn('an edited change could not be put into its thread', { record: id, error })
  }
}

/** A decision takes edited arguments only together with its yes. Until then they are kept here. */
async function editArguments(
  context: AnswerContext,
  participant: Participant,
  wait: Approval,
  text: string,
): Promise<void> {
  const edited = argumentsOf(text)
  const digest = callDigest({ ...wait, arguments: edited })
  if (digest === wait.digest) {
    return tell(context, participant, says('Your arguments are the same as those that are asked. Nothing was edited.'))
  }
  await context.kept.keepEdit(participant, wait.id, { arguments: edited, base: wait.digest, digest })
  await tell(context, participant, editedArguments(context, participant, wait, edited, digest))
}

function argumentsOf(text: string): Record<string, unknown> {
  if (text.length > MOST_ARGUMENTS) {
    throw new ServerError('invalid_request', 'These arguments are too long to edit here. Use the console.')
  }
  const value = argumentsObject(text)
  if (value !== null) return value
  throw new ServerError('invalid_request', 'To edit a call, attach its arguments as a JSON object: {"name": "value"}.')
}

function editedArguments(
  context: AnswerContext,
  participant: Participant,
  wait: Approval,
  edited: Record<string, unknown>,
  digest: string,
): SlackMessage {
  const look = ownButtons(context, participant, { recordId: wait.id, digest })
  const shown = (args: Record<string, unknown>) => preformatted(shownProse(shownArguments(args), MOST_SHOWN).text)
  const message = whisper(
    line(
      ...markPieces(describeInShort(wait)),
      bold('Nothing is decided yet. '),
      'You edited a call of ',
      code(shownName(wait.tool)),
      '.',
    ),
    line(bold('As it is asked:')),
    shown(parseArguments(wait.editedArguments ?? wait.arguments)),
    line(bold('As you edited it, this would run:')),
    shown(edited),
  )
  const yes = button(look, 'confirm:approve', 'Yes, approve the edited call')
  const buttons = buttonRow(yes, button(look, 'cancel', 'No'))
  return { ...message, blocks: [...message.blocks, buttons] }
}
