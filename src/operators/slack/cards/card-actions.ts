// How a record is answered here: with the buttons of its card, or with a reply in its thread.

import type { ActionName } from '../../../domain/records/record-kinds.ts'
import type { RememberScope } from '../../../domain/supervision/decision.ts'
import type { RecordAction, RecordView } from '../../../supervision/records/record-view.ts'
import type { Actions, Button } from './blocks.ts'
import type { CardLook } from './card.ts'
import { shownNote } from './shown-text.ts'

/** As Slack demands. */
const MOST_LABEL = 75

function fitting(label: string): string {
  const shown = shownNote(label.slice(0, MOST_LABEL + 1), MOST_LABEL * 2)
  return shown.length > MOST_LABEL ? `${shown.slice(0, MOST_LABEL - 1).toWellFormed()}…` : shown
}

/** An action of the record. `nudge:text` asks for the text that goes with it, and `answer:2` is the third of its choices. */
export type CardAction = ActionName | `${ActionName}:text` | `answer:${number}`

/** A yes or a no that is remembered. */
export type RememberAction = 'remember' | 'refuse'

/** Also the answers to `confirmMessage` and `rememberMessage`: which of the matches, and for how long. */
export type ButtonAction =
  | CardAction
  | 'confirm:approve'
  | 'cancel'
  | RememberAction
  | `${RememberAction}:${number}:${RememberScope}`

/** `action_id` of a button is this and its action. */
export const ACTION_ID_PREFIX = 'quarterdeck:'

/** Words that may be followed by a text in a reply. After the others a text is talk: `stop using tabs`. */
export const WORDS_WITH_TEXT: readonly ActionName[] = ['reject', 'answer', 'refine', 'resume', 'nudge']

/** Undefined: the record cannot be answered so. */
export const actionIn = (actions: readonly RecordAction[], action: CardAction): RecordAction | undefined =>
  actions.find(({ name }) => action === name || action.startsWith(`${name}:`))

/** Whether the person has to write something before it can be answered so. */
export function needsText(actions: readonly RecordAction[], action: CardAction): boolean {
  const takes = actionIn(actions, action)?.takes
  return action.endsWith(':text') || takes === 'text' || (takes === 'answer' && action === 'answer')
}

export function labelOf(actions: readonly RecordAction[], action: CardAction): string {
  const label = actionIn(actions, action)?.label ?? 'Answer'
  return action.endsWith(':text') ? `${label} with text` : label
}

export function button(
  look: Pick<CardLook, 'buttonValue'>,
  action: ButtonAction,
  label: string,
  style: Button['style'] | null = null,
): Button {
  return {
    type: 'button',
    action_id: `${ACTION_ID_PREFIX}${action}`,
    text: { type: 'plain_text', text: fitting(label), emoji: false },
    value: look.buttonValue(action),
    ...(style === null ? {} : { style }),
  }
}

export const buttonRow = (...elements: Button[]): Actions => ({ type: 'actions', elements })

export const buttonsFor = ({ actions, remember }: RecordView, look: CardLook): Button[] => [
  ...actions.flatMap(({ name, label, takes, main, danger, choices }) => {
    // Slack changes quotes and links in a text, so an edit is a file.
    if (takes === 'edit') return []
    if (choices.length > 0) return choices.map((choice, i) => button(look, `answer:${i}`, choice.label))
    const plain = button(look, name, label, main ? 'primary' : danger ? 'danger' : null)
    return takes === 'optional_text' ? [plain, button(look, `${name}:text`, `${label} with text`)] : [plain]
  }),
  ...(remember?.yes === true ? [button(look, 'remember', 'Approve and remember …')] : []),
  ...(remember === null ? [] : [button(look, 'refuse', 'Reject and remember …')]),
]

/** What a reply may say: `approve`, `reject and a reason`. */
export const repliesTo = (actions: readonly RecordAction[]): string[] =>
  actions.flatMap(({ name, takes, text }) => {
    if (takes === 'edit') return []
    const withText = `${name} and ${text}`
    if (takes === 'optional_text') return [name, withText]
    return [text !== '' && WORDS_WITH_TEXT.includes(name) ? withText : name]
  })

export function replyHint({ actions, body, changes }: RecordView): string {
  const replies = repliesTo(actions).map((one) => `with ${one}`)
  const edit = actions.find(({ takes }) => takes === 'edit')
  const asJson = body.some(({ type }) => type === 'arguments') ? ' as JSON' : ''
  const hint = `Or reply in this thread ${replies.slice(0, -1).join(', ')}, or ${replies.at(-1)}.`
  if (changes !== undefined) return `${hint} To choose among the files, or to edit one, open it in the console.`
  return edit === undefined ? hint : `${hint} To edit it first, attach ${edit.text}${asJson} to your reply.`
}
