// What cards and the other messages about a record have in common: a headline, facts, a checklist, and how it ended.

import type { Risk } from '../../../domain/agent/tool-settings.ts'
import type { SessionStatus } from '../../../domain/session/session.ts'
import type { ProgressItem } from '../../../domain/supervision/supervision.ts'
import type { Mark, RecordFact, RecordOutcome, RecordView } from '../../../supervision/records/record-view.ts'
import { bold, code, emoji, type Inline, line, quote, type RichPart, time } from './blocks.ts'
import type { ButtonAction, CardAction } from './card-actions.ts'
import { notifiedName, shownLine, shownName, shownNote, shownProse } from './shown-text.ts'

export interface CardSession {
  id: string
  /** The host of an agent elsewhere, or the name of our own agent. */
  agent: string
  /** Label of the workspace; null: an agent of ours, which has none. */
  folder: string | null
  title: string | null
  owner: string
  status: SessionStatus
  /** It stands for the workspace itself, where no agent needs to work. */
  isWorkspace: boolean
  /** What the agent was started with. */
  prompt: string | null
  progress: readonly ProgressItem[] | null
}

export interface CardLook {
  /** `minimal` leaves out what is behind a question: diffs and arguments are in the thread. `verbose` adds ids and hashes. */
  detail: 'minimal' | 'standard' | 'verbose'
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

/** How much of their usual length the long texts of a card have. */
export type Room = 1 | 0.5 | 0.25

type Place = Pick<RecordView, 'agent' | 'folder'>

/** `claude-code in shop asks to change a file`. */
export function headline({ agent, folder }: Place, does: string, ...before: (Inline | string)[]): RichPart {
  const place = folder === null ? [] : [' in ', code(shownName(folder))]
  return line(...before, code(shownName(agent)), ...place, ` ${does}`)
}

/** What a list says about a record. */
export const listed = ({ title, gist }: Pick<RecordView, 'title' | 'gist'>, most: number): string =>
  [title, gist]
    .filter((words) => words !== '')
    .map((words) => shownNote(words, most))
    .join(' · ')

/** The same for the notification. */
export const notifiedHeadline = (place: Place, does: string): string => `${notifiedPlace(place)} ${does}`

export const notifiedPlace = ({ agent, folder }: Place): string =>
  folder === null ? notifiedName(agent) : `${notifiedName(agent)} in ${notifiedName(folder)}`

/** The risk in front of everything else, or what else tells the kind. */
export const markPieces = ({ risk, mark }: Pick<RecordView, 'risk' | 'mark'>): (Inline | string)[] =>
  risk === null
    ? [emoji(MARKS[mark] ?? 'question'), ' ']
    : [emoji(RISK_MARKS[risk.level]), ' ', bold(`Risk ${risk.level}`), ' · ']

const RISK_MARKS: Readonly<Record<Risk, string>> = {
  low: 'large_blue_circle',
  high: 'large_orange_circle',
  critical: 'red_circle',
}

const MARKS: Partial<Record<Mark, string>> = {
  error: 'warning',
  standby: 'raised_hand',
  silence: 'zzz',
  alarm: 'rotating_light',
}

const MOST_FACT = 300

export const factLine = ({ name, text, at }: RecordFact): RichPart =>
  line(
    bold(`${name}: `),
    shownNote(text, MOST_FACT),
    text === '' || at === null ? '' : ' · ',
    at === null ? null : time(Date.parse(at)),
  )

const OUTCOME_MARKS: Readonly<Record<RecordOutcome['tone'], string>> = {
  good: 'white_check_mark',
  bad: 'x',
  warn: 'octagonal_sign',
  neutral: 'white_circle',
}
const MOST_OUTCOME = 1_000

/** Who decided what, when and where, or why nobody did. */
export function outcomeLines({ word, tone, by, at, via, more, facts, reason, words }: RecordOutcome): RichPart[] {
  const said = [
    ...(reason === null ? [] : [{ title: 'Reason', text: reason }]),
    ...(words === null || words.text === '' ? [] : [words]),
  ]
  return [
    line(
      emoji(OUTCOME_MARKS[tone]),
      ' ',
      bold(word),
      ...(by === null ? [] : [' by ', bold(shownName(by))]),
      ...(at === null ? [] : [' · ', time(Date.parse(at))]),
      ...(via === null ? [] : [` · ${shownName(via)}`]),
    ),
    ...(more === '' ? [] : [line(shownNote(more, MOST_OUTCOME))]),
    ...facts.map(factLine),
    ...said.flatMap(({ title, text }) => [line(bold(`${title}:`)), quote(shownProse(text, MOST_OUTCOME).text)]),
  ]
}

/** A checklist as the agent told it, or nothing. */
export function checklist(title: string, items: readonly ProgressItem[] | null, most: number): RichPart[] {
  if (items === null || items.length === 0) return []
  const done = items.filter(({ status }) => status === 'done').length
  const left = items.length - most
  return [
    line(bold(`${title}: `), `${done} of ${items.length}`),
    ...items.slice(0, most).map(({ label, status }) => line(STEP_MARKS[status], ' ', shownLine(label, 200).text)),
    ...(left > 0 ? [line(`… ${left} more`)] : []),
  ]
}

const STEP_MARKS: Readonly<Record<ProgressItem['status'], Inline>> = {
  done: emoji('white_check_mark'),
  in_progress: emoji('arrow_forward'),
  pending: emoji('white_large_square'),
}
