// A record that a person answers, as a Slack message. Pure: the same view and look give the same message.

import type { PersonRecord } from '../../../domain/records/record.ts'
import { endedAlone } from '../../../supervision/records/describe-record.ts'
import type { RecordView } from '../../../supervision/records/record-view.ts'
import {
  bold,
  code,
  emoji,
  escaped,
  line,
  link,
  mrkdwn,
  quote,
  rich,
  type SlackBlock,
  type SlackMessage,
  time,
  wordsOf,
} from './blocks.ts'
import { type CardLook, factLine, headline, markPieces, notifiedHeadline, outcomeLines, type Room } from './card.ts'
import { buttonRow, buttonsFor, labelOf, replyHint } from './card-actions.ts'
import { cardBody } from './card-body.ts'
import { notifiedName, notifiedNote, notifiedProse, sentences, shownName, shownNote, shownProse } from './shown-text.ts'

/** Slack refuses a message from about 13,000 characters on, and does not say what it counts. This leaves room for a line above the card. */
const MOST_CARD = 12_000
const MOST_TITLE = 300
const MOST_WARNING = 200
const MOST_WARNINGS = 5
const MOST_NEWS = 600

/** Every text has a limit. Where many of them are long, each gets a part of it, and the thread has the rest. */
export function renderCard(view: RecordView, look: CardLook): Required<SlackMessage> {
  const card = cardWith(view, look, 1)
  if (isShortEnough(card)) return card
  const half = cardWith(view, look, 0.5)
  return isShortEnough(half) ? half : cardWith(view, look, 0.25)
}

const isShortEnough = ({ blocks }: SlackMessage): boolean => escaped(JSON.stringify(blocks)).length <= MOST_CARD

function cardWith(view: RecordView, look: CardLook, room: Room): Required<SlackMessage> {
  const { outcome } = view
  const { blocks, files } = cardBody(view, look, room)
  const head = headline(view, view.asks, ...markPieces(view))
  const about = [...titleLine(view), ...contextLines(view, look), ...blocks, ...factLines(view, look)]
  if (outcome === null) {
    return {
      text: sentences(`${notifiedHeadline(view, view.asks)}.`, ...notifiedAsk(view)),
      blocks: [...rich(head), ...mentionLine(look), ...warnings(view), ...about, ...answerBlocks(view, look)],
      files,
    }
  }
  const by = outcome.by === null ? '' : ` by ${notifiedName(outcome.by)}`
  return {
    text: sentences(`${outcome.word}${by}.`, `${notifiedHeadline(view, view.asks)}.`, ...notifiedAsk(view)),
    blocks: [...rich(...outcomeLines(outcome)), ...rich(head), ...warnings(view), ...about],
    files: [],
  }
}

/** What is asked, in sentences for the notification. Arguments of tools only as far as the server says what they do. */
export function notifiedAsk({ risk, title, body }: RecordView): string[] {
  const said = body.find((part, i) => part.type === 'prose' && part.title !== '' && (i === 0 || part.by === 'agent'))
  const words = said?.type === 'prose' ? `${notifiedNote(said.title)}: ${notifiedNote(said.text)}` : ''
  return risk === null ? [words] : [`${notifiedNote(title)}.`, words, `Risk ${risk.level}.`]
}

/** What would be done. Where nothing would, the words of the agent say what it is about. */
export const titleLine = ({ risk, title }: RecordView): SlackBlock[] =>
  risk === null ? [] : rich(line(code(shownNote(title, MOST_TITLE))))

/** What speaks against it. */
export function warnings({ risk, warnings: all }: RecordView): SlackBlock[] {
  const left = all.length - MOST_WARNINGS
  const why = risk === null || risk.why === null || risk.level === 'low' ? [] : [`Why: ${risk.why}`]
  const more = left > 0 ? [`… ${left} more warnings`] : []
  return rich(
    ...[...why, ...all.slice(0, MOST_WARNINGS), ...more].map((text) =>
      line(emoji('warning'), ' ', shownNote(text, MOST_WARNING)),
    ),
  )
}

/** What somebody who was not there needs to decide. */
function contextLines({ context, risk }: RecordView, { detail }: CardLook): SlackBlock[] {
  const words = {
    Why: risk?.level === 'low' ? risk.why : null,
    Request: context.request,
    'It said': context.said,
    'The tool': context.tool,
    Before: context.before,
  }
  // Where nothing would be done, the words of the agent say what it is about.
  if (detail === 'minimal' || risk === null) return []
  return rich(
    ...Object.entries(words).map(([name, text]) =>
      text === null ? null : factLine({ name, text, at: null, minor: false }),
    ),
  )
}

/** What else is known, who is asked, since when and until when. */
function factLines({ id, session, owner, facts, outcome, ...view }: RecordView, { detail }: CardLook): SlackBlock[] {
  const isVerbose = detail === 'verbose'
  const known = rich(...facts.filter(({ minor }) => isVerbose || !minor).map(factLine))
  if (detail === 'minimal') return known
  const expires = view.expires_at === null || outcome !== null ? [] : [' · expires ', time(Date.parse(view.expires_at))]
  const asked = line('Owner ', bold(shownName(owner)), ' · since ', time(Date.parse(view.asked_at)), ...expires)
  const ids = line('Record ', code(shownName(id)), ' · session ', code(shownName(session.id)))
  return [...known, ...rich(asked, isVerbose ? ids : null)]
}

/** Names of people are Slack's own here, so that they are told. */
const mentionLine = ({ mention, state }: CardLook): SlackBlock[] =>
  mention !== null && state.type !== 'working' && /^[UW][A-Z0-9]{2,20}$/.test(mention)
    ? [mrkdwn(`<@${mention}>, please answer.`)]
    : []

/** The buttons, or what has become of them. */
function answerBlocks(view: RecordView, look: CardLook): SlackBlock[] {
  const { actions } = view
  const { state, detail } = look
  const console = consoleLine(look.link)
  if (state.type === 'working') {
    const doing = line(
      emoji('hourglass_flowing_sand'),
      ' ',
      bold(labelOf(actions, state.action)),
      ' by ',
      bold(shownName(state.by)),
      ' … working on it',
    )
    return rich(doing, console)
  }
  const awaited =
    state.type === 'awaiting_text'
      ? rich(
          line(
            emoji('pencil2'),
            ' ',
            bold(shownName(state.by)),
            `: write the text for “${labelOf(actions, state.action)}” as a reply in this thread.`,
          ),
        )
      : []
  const hint = detail === 'minimal' ? null : line(replyHint(view))
  return [buttonRow(...buttonsFor(view, look)), ...awaited, ...rich(hint, console)]
}

export const consoleLine = (url: string | null) => (url === null ? null : line(link(url, 'Open in the console')))

/**
 * What happened to a record without a person, for its thread: a change of a card notifies nobody. `key` is the same for the same news.
 * Null: there is none.
 */
export function newsOf(
  record: PersonRecord,
  view: RecordView,
  url: string | null,
): { key: string; message: SlackMessage } | null {
  const head = headline(view, view.asks, ...markPieces(view))
  const news =
    record.status === 'nudged'
      ? {
          key: `nudged/${record.id}/${record.nudgeCount}`,
          lines: [
            head,
            ...view.facts.map(factLine),
            ...(record.nudgeMessage === null ? [] : [quote(shownProse(record.nudgeMessage, MOST_NEWS).text)]),
          ],
        }
      : endedAlone(record) && view.outcome !== null
        ? { key: `ended/${record.id}`, lines: [...outcomeLines(view.outcome), head] }
        : null
  if (news === null) return null
  const { key, lines } = news
  return {
    key,
    message: {
      text: sentences(...lines.map((one) => notifiedProse(wordsOf(one), MOST_NEWS))),
      blocks: rich(...lines, consoleLine(url)),
    },
  }
}
