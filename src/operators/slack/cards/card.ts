// What every card is made from, and what all cards have in common: a headline, the way to answer, and the way to the console.

import { isWaiting, type PersonRecord } from '../../../domain/records/record.ts'
import type { SessionStatus } from '../../../domain/session.ts'
import type { ProgressItem } from '../../../domain/supervision.ts'
import {
  type Actions,
  type Button,
  bold,
  code,
  emoji,
  type Inline,
  line,
  link,
  mrkdwn,
  type RichPart,
  rich,
  type SlackBlock,
  type ThreadFile,
  time,
} from './blocks.ts'
import { notifiedName, shownLine, shownName } from './shown-text.ts'

export interface CardSession {
  id: string
  /** The host of an agent elsewhere, or the name of our own agent. */
  agent: string
  /** Label of the workspace; null: an agent of ours, which has none. */
  workspace: string | null
  title: string | null
  owner: string
  status: SessionStatus
  /** It stands for the workspace itself, where no agent needs to work. */
  isWorkspace: boolean
  /** What the agent was started with. */
  prompt: string | null
  progress: readonly ProgressItem[] | null
}

export interface CardSubject<W extends PersonRecord = PersonRecord> {
  wait: W
  session: CardSession
  /** The diff behind an approval as people see it (`ProposedDiff.shown`); null: it changes no file, or the diff is gone. */
  diff: { shown: string } | null
  /** Null: one yes is enough. */
  quorum: { needed: number; yeses: readonly { by: string; at: number }[] } | null
}

export type CardDetail = 'minimal' | 'standard' | 'verbose'

export interface CardLook {
  /** `minimal` leaves out what is behind a question: diffs and arguments are in the thread. `verbose` adds ids and hashes. */
  detail: CardDetail
  /** Address of the record in the console; null: there is none. */
  link: string | null
  /** Slack id of the person who is asked; null: nobody is mentioned. */
  mention: string | null
  state: CardState
  /** The value of a button: an opaque text of at most 2,000 characters that proves that we made it. */
  buttonValue(action: ButtonAction): string
}

/** What goes on with a record that still waits. A record that is decided says so itself. */
export type CardState =
  | { type: 'open' }
  /** Somebody answered a moment ago, and the answer is on its way. `by` is the name of an operator. */
  | { type: 'working'; by: string; action: CardAction }
  /** Somebody pressed a button that needs a text, and has not written it yet. Others can still answer. */
  | { type: 'awaiting_text'; by: string; action: CardAction }

/** What a person can answer. `choose:2` is the third of `choicesOf`. */
export type CardAction =
  | 'accept'
  | 'reject'
  | 'answer'
  | `choose:${number}`
  | 'continue'
  | 'refine'
  | 'stop'
  | 'nudge'
  | 'nudge_with_text'
  | 'dismiss'
  | 'resume'
  | 'resume_with_text'

/** Also the two answers to `confirmMessage`. */
export type ButtonAction = CardAction | `confirm:${CardAction}` | 'cancel'

/** `action_id` of a button is this and its action. */
export const ACTION_ID_PREFIX = 'quarterdeck:'

const LABELS: Readonly<Record<Exclude<CardAction, `choose:${number}`>, string>> = {
  accept: 'Accept',
  reject: 'Reject',
  answer: 'Answer with text',
  continue: 'Continue',
  refine: 'Refine',
  stop: 'Stop',
  nudge: 'Nudge',
  nudge_with_text: 'Nudge with text',
  dismiss: 'Dismiss',
  resume: 'Resume',
  resume_with_text: 'Resume with text',
}

export const isChoice = (action: CardAction): action is `choose:${number}` => action.startsWith('choose:')
export const labelOf = (action: CardAction): string => (isChoice(action) ? 'Answer' : LABELS[action])

const YES: readonly ButtonAction[] = ['accept', 'continue', 'nudge', 'resume']
const NO: readonly ButtonAction[] = ['reject', 'stop']

export function button(look: Pick<CardLook, 'buttonValue'>, action: ButtonAction, label: string): Button {
  const style = YES.includes(action) ? 'primary' : NO.includes(action) ? 'danger' : null
  return {
    type: 'button',
    action_id: `${ACTION_ID_PREFIX}${action}`,
    text: { type: 'plain_text', text: label, emoji: false },
    value: look.buttonValue(action),
    ...(style === null ? {} : { style }),
  }
}

export const actions = (...elements: Button[]): Actions => ({ type: 'actions', elements })

/** How much of their usual length the long texts of a card have. */
export type Room = 1 | 0.5 | 0.25

/** The parts of a card that depend on the kind of its record. */
export interface CardBody {
  /** What the agent wants, after its name: `asks to change a file`. Our own words. */
  asks: string
  /** What is asked, after what `asks` says, in sentences for the notification, already escaped. */
  notified: readonly string[]
  blocks: SlackBlock[]
  files: ThreadFile[]
  buttons: Button[]
  /** How to answer with a reply in the thread. Our own words. */
  hint: string
}

/** `claude-code in shop asks to change a file`. */
export function headline({ session }: CardSubject, asks: string, ...before: (Inline | string)[]): RichPart {
  const place = session.workspace === null ? [] : [' in ', code(shownName(session.workspace))]
  return line(...before, code(shownName(session.agent)), ...place, ` ${asks}`)
}

/** The same for the notification: `claude-code in shop asks to change a file`. */
export function notifiedHeadline({ session }: Pick<CardSubject, 'session'>, asks: string): string {
  const place = session.workspace === null ? '' : ` in ${notifiedName(session.workspace)}`
  return `${notifiedName(session.agent)}${place} ${asks}`
}

/** Who is asked, since when and until when. */
export function factLines({ wait, session }: CardSubject, { detail }: CardLook): SlackBlock[] {
  if (detail === 'minimal') return []
  const expires = wait.expiresAt === null || !isWaiting(wait) ? [] : [' · expires ', time(wait.expiresAt)]
  const owner = line(
    'Owner ',
    bold(shownName(wait.owner)),
    wait.wait === 'alert' ? ' · noticed ' : ' · asked ',
    time(wait.createdAt),
    ...expires,
  )
  if (detail === 'standard') return rich(owner)
  return rich(owner, line('Record ', code(shownName(wait.id)), ' · session ', code(shownName(session.id))))
}

/** Names of people are Slack's own here, so that they are told. */
export function mentionLine({ mention }: CardLook): SlackBlock[] {
  return mention !== null && /^[UW][A-Z0-9]{2,20}$/.test(mention) ? [mrkdwn(`<@${mention}>, please answer.`)] : []
}

/** The buttons, or what has become of them. */
export function answerBlocks({ buttons, hint }: CardBody, look: CardLook): SlackBlock[] {
  const { state, detail } = look
  const console = look.link === null ? null : link(look.link, 'Open in the console')
  if (state.type === 'working') {
    return rich(
      line(
        emoji('hourglass_flowing_sand'),
        ' ',
        bold(labelOf(state.action)),
        ' by ',
        bold(shownName(state.by)),
        ' … working on it',
      ),
      line(console),
    )
  }
  const awaited =
    state.type === 'awaiting_text'
      ? rich(
          line(
            emoji('pencil2'),
            ' ',
            bold(shownName(state.by)),
            `: write the text for “${labelOf(state.action)}” as a reply in this thread.`,
          ),
        )
      : []
  const hints = detail === 'minimal' ? rich(line(console)) : rich(line(hint), line(console))
  return [...(buttons.length === 0 ? [] : [actions(...buttons)]), ...awaited, ...hints]
}

/** A checklist as the agent told it, or nothing. */
export function checklist(items: readonly ProgressItem[] | null, most: number): RichPart[] {
  if (items === null || items.length === 0) return []
  const done = items.filter(({ status }) => status === 'done').length
  const left = items.length - most
  return [
    line(bold(`${done} of ${items.length} steps done`), ', in the agent’s words:'),
    ...items.slice(0, most).map(({ label, status }) => line(MARKS[status], ' ', shownLine(label, 200).text)),
    ...(left > 0 ? [line(`… ${left} more`)] : []),
  ]
}

const MARKS: Readonly<Record<ProgressItem['status'], Inline>> = {
  done: emoji('white_check_mark'),
  in_progress: emoji('arrow_forward'),
  pending: emoji('white_large_square'),
}

/** `5 min 3 s`. */
export function duration(seconds: number): string {
  const whole = Math.max(Math.round(seconds), 0)
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60]
  if (hours > 0) return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`
  if (minutes === 0) return `${whole} s`
  return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`
}
