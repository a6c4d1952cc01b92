// A record that a person answers, as a Slack message. Pure: the same record and look give the same message.

import type { PersonRecord } from '../../../domain/records/record.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import { approvalBody, riskPieces } from './approval-card.ts'
import { emoji, type Inline, line, link, rich, type SlackMessage, wordsOf } from './blocks.ts'
import {
  answerBlocks,
  type CardBody,
  type CardLook,
  type CardSubject,
  factLines,
  headline,
  mentionLine,
  notifiedHeadline,
  type Room,
} from './card.ts'
import { endedAlone, outcomeOf } from './outcome.ts'
import { alertBody, instructionBody, nudges, promptBody } from './record-cards.ts'
import { notifiedProse, sentences } from './shown-text.ts'

/** Slack refuses a message from about 13,000 characters on, and does not say what it counts. This leaves room for a line above the card. */
const MOST_CARD = 12_000
const MOST_NEWS = 600

/** Every text has a limit. Where many of them are long, each gets a part of it, and the thread has the rest. */
export function renderCard(subject: CardSubject, look: CardLook): SlackMessage {
  const card = cardWith(subject, look, 1)
  if (fits(card)) return card
  const half = cardWith(subject, look, 0.5)
  return fits(half) ? half : cardWith(subject, look, 0.25)
}

const fits = ({ blocks }: SlackMessage): boolean => JSON.stringify(blocks).length <= MOST_CARD

function cardWith(subject: CardSubject, look: CardLook, room: Room): SlackMessage {
  const { wait, session } = subject
  const body = bodyOf(subject, look, room)
  const outcome = outcomeOf(wait, session)
  const head = headline(subject, body.asks, ...markOf(wait))
  return {
    text: sentences(
      outcome === null ? '' : `${outcome.notified}.`,
      `${notifiedHeadline(subject, body.asks)}.`,
      ...body.notified,
    ),
    blocks: [
      ...(outcome === null ? [] : rich(...outcome.lines)),
      ...rich(head),
      ...(outcome === null && look.state.type !== 'working' ? mentionLine(look) : []),
      ...body.blocks,
      ...factLines(subject, look),
      ...(outcome === null ? answerBlocks(body, look) : []),
    ],
    files: body.files,
  }
}

/**
 * What happened to a record without a person, for its thread: a change of a card notifies nobody. `key` is the same for the same news.
 * Null: there is none.
 */
export function newsOf(subject: CardSubject, look: CardLook): { key: string; message: SlackMessage } | null {
  const { wait, session } = subject
  const { asks } = bodyOf(subject, look, 1)
  const mark = markOf(wait)
  const news =
    wait.wait === 'alert' && wait.status === 'nudged'
      ? { key: `nudged/${wait.id}/${wait.nudgeCount}`, lines: [headline(subject, asks, ...mark), ...nudges(wait)] }
      : endedAlone(wait)
        ? {
            key: `ended/${wait.id}`,
            lines: [...(outcomeOf(wait, session)?.lines ?? []), headline(subject, asks, ...mark)],
          }
        : null
  if (news === null) return null
  const { key, lines } = news
  return {
    key,
    message: {
      text: sentences(...lines.map((one) => notifiedProse(wordsOf(one), MOST_NEWS))),
      blocks: rich(...lines, look.link === null ? null : line(link(look.link, 'Open in the console'))),
      files: [],
    },
  }
}

function bodyOf(subject: CardSubject, look: CardLook, room: Room): CardBody {
  const { wait } = subject
  switch (wait.wait) {
    case 'approval':
      return approvalBody({ ...subject, wait }, look, room)
    case 'prompt':
      return promptBody({ ...subject, wait }, look)
    case 'standby':
      return instructionBody({ ...subject, wait }, look)
    case 'alert':
      return alertBody({ ...subject, wait }, look)
    default:
      return unreachable(wait)
  }
}

function markOf(wait: PersonRecord): (Inline | string)[] {
  switch (wait.wait) {
    case 'approval':
      return riskPieces(wait)
    case 'prompt':
      return [emoji(wait.promptType === 'error_recovery' ? 'warning' : 'question'), ' ']
    case 'standby':
      return [emoji('raised_hand'), ' ']
    case 'alert':
      return [emoji(wait.status === 'escalated' ? 'rotating_light' : 'zzz'), ' ']
    default:
      return unreachable(wait)
  }
}
