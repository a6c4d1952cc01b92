// What a person is told about their answer. Only they see it.

import type { PersonRecord } from '../../../domain/records/record.ts'
import { byUrgency } from '../../../supervision/inbox/urgency.ts'
import { describeInShort } from '../../../supervision/records/describe-record.ts'
import type { RecordOutcome, RecordView } from '../../../supervision/records/record-view.ts'
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
import { listed, outcomeLines } from '../cards/card.ts'
import { repliesTo } from '../cards/card-actions.ts'
import { sentences, shownProse } from '../cards/shown-text.ts'

const MOST_WORDS = 1_000
const MOST_LISTED = 20
const MOST_NAMED = 80

/** Lines of our own words. What others wrote has gone through `cards/shown-text.ts`. */
export function whisper(...parts: RichPart[]): SlackMessage {
  const words = sentences(...parts.map(wordsOf))
  return {
    text: escaped(words.slice(0, MOST_WORDS).toWellFormed()) || 'Quarterdeck',
    blocks: rich(...parts),
  }
}

export const says = (...pieces: (Inline | string)[]): SlackMessage => whisper(line(...pieces))

/** A sentence of the part that refused. */
export const saysWhy = (message: string, more = ''): SlackMessage =>
  whisper(line(shownProse(message, MOST_WORDS).text), line(more))

/** A yes that is not enough by itself. */
export const counted = (given: number, needed: number | null): SlackMessage =>
  says(
    bold('Your yes counts.'),
    needed === null ? ` ${given} so far.` : ` ${given} of ${needed} so far.`,
    ' Somebody else has to say yes too.',
  )

/** The record is over. Says whose answer counts, and whether it is the person's own. */
export function tooLate(outcome: RecordOutcome | null, user: string): SlackMessage {
  const by = outcome?.by ?? null
  const why =
    by === null
      ? 'Too late: nobody waits for this answer any more.'
      : by === user
        ? 'You have answered this already. That answer counts, once.'
        : 'It was decided already. Your answer changes nothing.'
  return whisper(line(bold(why)), ...(outcome === null ? [] : outcomeLines(outcome)))
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

/** What waits here, to choose from by id, the most urgent first. */
export function listOf(
  waits: readonly PersonRecord[],
  shortId: (id: string) => string,
  ...before: (Inline | string)[]
): SlackMessage {
  const left = waits.length - MOST_LISTED
  return whisper(
    line(...before),
    ...waits
      .toSorted(byUrgency)
      .slice(0, MOST_LISTED)
      .map((wait) => inShort(shortId(wait.id), describeInShort(wait))),
    ...(left > 0 ? [line(`… ${left} more`)] : []),
  )
}

/** One line about a record, with how it is answered. */
function inShort(id: string, { risk, actions, ...view }: RecordView): RichPart {
  const how = actions.length === 0 ? '' : ` (${repliesTo(actions).join(', ')})`
  return line('• ', code(id), ` ${listed(view, MOST_NAMED)}`, risk === null ? '' : ` · risk ${risk.level}`, how)
}
