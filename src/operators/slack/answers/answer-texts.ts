// What a person is told about their answer. Only they see it.

import { type Approval, isWaiting, type PersonRecord } from '../../../domain/records/record.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import {
  bold,
  code,
  escaped,
  type Inline,
  line,
  link,
  type RichPart,
  rich,
  type SlackMessage,
  wordsOf,
} from '../cards/blocks.ts'
import { type CardAction, type CardSession, isChoice } from '../cards/card.ts'
import { outcomeOf } from '../cards/outcome.ts'
import { sentences, shownName, shownNote, shownProse } from '../cards/shown-text.ts'

const MOST_WORDS = 1_000
const MOST_LISTED = 20
const MOST_NAMED = 80

/** Lines of our own words. What others wrote has gone through `cards/shown-text.ts`. */
export function whisper(...parts: RichPart[]): SlackMessage {
  const words = sentences(...parts.map(wordsOf))
  return {
    text: escaped(words.slice(0, MOST_WORDS).toWellFormed()) || 'Quarterdeck',
    blocks: rich(...parts),
    files: [],
  }
}

export const says = (...pieces: (Inline | string)[]): SlackMessage => whisper(line(...pieces))

/** A sentence of the part that refused. */
export const saysWhy = (message: string, more = ''): SlackMessage =>
  whisper(line(shownProse(message, MOST_WORDS).text), line(more))

const DONE: Readonly<Record<Exclude<CardAction, `choose:${number}`>, string>> = {
  accept: 'Accepted.',
  reject: 'Rejected.',
  answer: 'Answered.',
  continue: 'The agent goes on.',
  refine: 'The agent gets your text.',
  stop: 'The agent is told to stop.',
  nudge: 'The agent is nudged.',
  nudge_with_text: 'The agent is nudged with your text.',
  dismiss: 'Dismissed.',
  resume: 'The agent goes on.',
  resume_with_text: 'The agent gets your text.',
}

export const done = (action: CardAction): SlackMessage => says(isChoice(action) ? DONE.answer : DONE[action])

/** A yes that is not enough by itself. */
export const counted = (given: number, needed: number | null): SlackMessage =>
  says(
    bold('Your yes counts.'),
    needed === null ? ` ${given} so far.` : ` ${given} of ${needed} so far.`,
    ' Somebody else has to say yes too.',
  )

/** The record is over. Says whose answer counts, and whether it is the person's own. */
export function tooLate(
  wait: PersonRecord,
  session: Pick<CardSession, 'status'>,
  action: CardAction,
  user: string,
): SlackMessage {
  const outcome = outcomeOf(wait, session)?.lines ?? []
  return whisper(line(bold(lateWord(wait, action, user))), ...outcome)
}

function lateWord(wait: PersonRecord, action: CardAction, user: string): string {
  if (wait.decidedBy === user) {
    return gaveAnswer(wait, action)
      ? 'You have given this answer already. It counts once.'
      : 'You have decided this already, with another answer. That one counts.'
  }
  if (wait.status === 'expired' || wait.status === 'timeout' || wait.decidedBy === 'timeout') {
    return 'Too late: the time to answer is over. Your answer changes nothing.'
  }
  if (wait.status === 'interrupted' && wait.decidedBy === null) return 'Nobody waits for this answer any more.'
  return 'It was decided already. Your answer changes nothing.'
}

/** Whether this action is how the record was answered. */
function gaveAnswer(wait: PersonRecord, action: CardAction): boolean {
  switch (wait.wait) {
    case 'approval':
      if (wait.status === 'rejected') return action === 'reject'
      if (wait.status === 'answered') return action === 'answer' || isChoice(action)
      return action === 'accept'
    case 'prompt':
      return action === wait.decision
    case 'standby':
      return (wait.instruction === 'stop') === (action === 'stop')
    case 'alert':
      return action === 'dismiss' || action === 'stop'
    default:
      return unreachable(wait)
  }
}

/** A question that wants more than one value, or another one. */
export const notAsText = (why: string, url: string | null): SlackMessage =>
  says(
    `${why} Nothing was answered. Reply with answer and all fields as JSON, or `,
    url === null ? 'answer it in the console.' : link(url, 'answer it in the console'),
  )

export const needsPasskey = (url: string | null): SlackMessage =>
  says(
    bold('This needs a passkey. '),
    'Nothing was decided, and it still waits. ',
    url === null ? 'Decide it in the console.' : link(url, 'Decide it in the console.'),
  )

export const asksAgain = (isOther: boolean): SlackMessage =>
  says(
    bold('It has changed since you saw it. '),
    isOther
      ? 'It is asked again in a new card. Nothing was decided: look at that one, then answer.'
      : 'Nothing was decided: look at the card as it is now, then answer again.',
  )

export const ourFailure = (): SlackMessage =>
  says(bold('Something went wrong here. '), 'Nothing was decided; try again. The log of the server says what it was.')

export const unclearFailure = (): SlackMessage =>
  says(
    bold('Something went wrong here, '),
    'and the server cannot say whether your answer counts. Look at the card in a minute.',
  )

/** What waits here, to choose from by id. */
export function listOf(
  waits: readonly PersonRecord[],
  shortId: (id: string) => string,
  ...before: (Inline | string)[]
): SlackMessage {
  const left = waits.length - MOST_LISTED
  return whisper(
    line(...before),
    ...waits.slice(0, MOST_LISTED).map((wait) => line('• ', code(shortId(wait.id)), ' ', ...inShort(wait))),
    ...(left > 0 ? [line(`… ${left} more`)] : []),
  )
}

/** One line about a record, with how it is answered. */
function inShort(wait: PersonRecord): (Inline | string)[] {
  const how = isWaiting(wait) ? ` (${answersFor(wait)})` : ''
  switch (wait.wait) {
    case 'approval':
      return [...approvalInShort(wait), how]
    case 'prompt':
      return ['prompt: ', shownNote(wait.promptText, MOST_NAMED), how]
    case 'standby':
      return ['waits for an instruction', how]
    case 'alert':
      return ['silent agent', how]
    default:
      return unreachable(wait)
  }
}

function approvalInShort({ kind, tool, title, risk, supervised }: Approval): (Inline | string)[] {
  const change = supervised?.change ?? null
  if (kind === 'policy') return ['policy of the workspace']
  if (change !== null) return [`${change.kind} `, code(shownName(change.path)), ` · risk ${risk}`]
  if (kind === 'question') return ['question of ', code(shownName(tool))]
  return ['call ', code(shownName(tool)), ' ', shownNote(title, MOST_NAMED), ` · risk ${risk}`]
}

/** The words that answer it. */
export function answersFor(wait: PersonRecord): string {
  switch (wait.wait) {
    case 'approval':
      return wait.kind === 'question' ? 'answer TEXT, reject REASON' : 'accept, reject REASON'
    case 'prompt':
      return 'continue, refine TEXT, stop'
    case 'standby':
      return 'resume, resume TEXT, stop'
    case 'alert':
      return 'nudge, nudge TEXT, dismiss, stop'
    default:
      return unreachable(wait)
  }
}
