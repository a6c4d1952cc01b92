// A record that a person answers, as a Slack message. Pure: the same record and look give the same message.

import type { PersonWait } from '../../../domain/feed.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import { approvalBody, riskPieces } from './approval-card.ts'
import { emoji, type Inline, rich, type SlackMessage } from './blocks.ts'
import {
  answerBlocks,
  type CardBody,
  type CardLook,
  type CardSubject,
  factLines,
  headline,
  mentionLine,
} from './card.ts'
import { outcomeOf } from './outcome.ts'
import { alertBody, instructionBody, promptBody } from './record-cards.ts'
import { notifiedName } from './shown-text.ts'

export function renderCard(subject: CardSubject, look: CardLook): SlackMessage {
  const { wait, session } = subject
  const body = bodyOf(subject, look)
  const outcome = outcomeOf(wait, session)
  const head = headline(subject, body.asks, ...markOf(wait))
  const asked = `${notifiedName(session.agent)} ${body.notified}`
  return {
    text: outcome === null ? asked : `${outcome.notified}: ${asked}`,
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

function bodyOf(subject: CardSubject, look: CardLook): CardBody {
  const { wait } = subject
  switch (wait.wait) {
    case 'approval':
      return approvalBody({ ...subject, wait }, look)
    case 'prompt':
      return promptBody({ ...subject, wait }, look)
    case 'instruction':
      return instructionBody({ ...subject, wait }, look)
    case 'alert':
      return alertBody({ ...subject, wait }, look)
    default:
      return unreachable(wait)
  }
}

function markOf(wait: PersonWait): (Inline | string)[] {
  switch (wait.wait) {
    case 'approval':
      return riskPieces(wait)
    case 'prompt':
      return [emoji(wait.promptType === 'error_recovery' ? 'warning' : 'question'), ' ']
    case 'instruction':
      return [emoji('raised_hand'), ' ']
    case 'alert':
      return [emoji(wait.status === 'escalated' ? 'rotating_light' : 'zzz'), ' ']
    default:
      return unreachable(wait)
  }
}
