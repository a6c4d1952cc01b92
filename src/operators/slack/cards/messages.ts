// Messages that are not cards: summaries, lines of a log, notices, and the second look before a yes.

import type { LineLevel } from '../../../domain/delivery.ts'
import type { Alert, Approval } from '../../../domain/records/record.ts'
import { choicesOf } from '../../../supervision/records/question-choices.ts'
import { asksFor, notifiedAsk, riskPieces, warnings, whatChanges } from './approval-card.ts'
import { callArguments, edited, whatIsCalled } from './approval-evidence.ts'
import {
  bold,
  code,
  emoji,
  line,
  link,
  mrkdwn,
  plain,
  preformatted,
  quote,
  rich,
  type SlackBlock,
  type SlackMessage,
} from './blocks.ts'
import {
  actions,
  button,
  type CardAction,
  type CardLook,
  type CardSession,
  type CardSubject,
  duration,
  headline,
  isChoice,
  labelOf,
  notifiedHeadline,
} from './card.ts'
import { renderCard } from './render-card.ts'
import { notifiedName, notifiedProse, sentences, shownName, shownNote, shownProse, wholeText } from './shown-text.ts'

const MOST_TEXT = 3_000
const MOST_NOTIFIED = 1_000
const MOST_INLINE = 300

/** In place of items that were too many to post one by one. */
export function summaryMessage(count: number, url: string | null): SlackMessage {
  const words = `${count.toLocaleString('en')} more item${count === 1 ? ' waits' : 's wait'} for a person.`
  const where = url === null ? ' Look with: quarterdeck ctl list' : ' '
  return {
    text: words,
    blocks: rich(
      line(emoji('inbox_tray'), ' ', bold(words), where, url === null ? null : link(url, 'Open the console')),
    ),
    files: [],
  }
}

const LEVELS: Readonly<Record<LineLevel, { mark: string; word: string }>> = {
  info: { mark: 'information_source', word: 'Info' },
  success: { mark: 'white_check_mark', word: 'Success' },
  warning: { mark: 'warning', word: 'Warning' },
  error: { mark: 'x', word: 'Error' },
}

/** What an agent reports with `remote_log`. `key` makes the name of the file, if the text needs one. */
export function logLine(
  session: Pick<CardSession, 'agent' | 'workspace'>,
  level: LineLevel,
  message: string,
  key: string,
): SlackMessage {
  const { mark, word } = LEVELS[level]
  const shown = shownProse(message, MOST_TEXT)
  const name = `log-${key.replace(/[^\w-]+/g, '_').slice(-40)}.txt`
  const from = [emoji(mark), ' ', bold(word), ' from ', code(shownName(session.agent))]
  const isLine = shown.text.length <= MOST_INLINE && !shown.text.includes('\n')
  return {
    text: sentences(`${word} from ${notifiedPlace(session)}:`, notifiedProse(message, MOST_NOTIFIED)),
    blocks: rich(
      // Several lines are set apart, so that none of them looks like a line of ours.
      ...(isLine ? [line(...from, ': ', shown.text)] : [line(...from), quote(shown.text)]),
      shown.isCut ? line('All of it is in the thread.') : null,
    ),
    files: shown.isCut ? [{ name, content: wholeText(message), snippetType: 'text' }] : [],
  }
}

const notifiedPlace = ({ agent, workspace }: Pick<CardSession, 'agent' | 'workspace'>): string =>
  workspace === null ? notifiedName(agent) : `${notifiedName(agent)} in ${notifiedName(workspace)}`

/** What is asked, in the sentences of its card. */
const askedIn = ({ wait }: CardSubject): string[] => (wait.wait === 'approval' ? notifiedAsk(wait) : [])

/** Something that people should know, such as a change of a mode. */
export function notice(text: string): SlackMessage {
  const shown = shownProse(text, MOST_TEXT).text
  return {
    text: notifiedProse(text, MOST_NOTIFIED) || 'Notice',
    blocks: rich(line(emoji('bell'), ' ', shown === '' ? 'Notice' : plain(shown))),
    files: [],
  }
}

/** What the workspace's policy let through. The lines are those of `PolicySummary`. */
export function autoApproved(session: Pick<CardSession, 'agent'>, lines: readonly string[]): SlackMessage {
  const shown = shownProse(lines.join('\n'), MOST_TEXT).text
  return {
    text: sentences(
      `The policy let work of ${notifiedName(session.agent)} through.`,
      notifiedProse(lines.join('\n'), MOST_NOTIFIED),
    ),
    blocks: rich(
      line(
        emoji('robot_face'),
        ' ',
        bold('Approved by the workspace’s policy'),
        ', for ',
        code(shownName(session.agent)),
      ),
      preformatted(shown),
    ),
    files: [],
  }
}

/** An agent is still silent after all nudges. A message of its own, because bringing a card up to date notifies nobody. */
export function escalationMessage(subject: CardSubject<Alert>, idleSeconds: number, url: string | null): SlackMessage {
  return {
    text: sentences(
      'An agent needs somebody to look.',
      `${notifiedHeadline(subject, `is still silent after all nudges, now for ${duration(idleSeconds)}`)}.`,
    ),
    blocks: [
      mrkdwn('<!channel> An agent needs somebody to look.'),
      ...rich(
        headline(subject, `is still silent, now for ${duration(idleSeconds)}.`, emoji('rotating_light'), ' '),
        url === null ? null : line(link(url, 'Open in the console')),
      ),
    ],
    files: [],
  }
}

/** Calls further people, because nobody has answered for so long. `users` are Slack ids of our settings. */
export function callMessage(
  subject: CardSubject,
  users: readonly string[],
  waitedSeconds: number,
  url: string | null,
): SlackMessage {
  return {
    text: sentences(
      `${notifiedHeadline(subject, `has waited for an answer for ${duration(waitedSeconds)}`)}.`,
      'Nobody has answered yet, so you may.',
      ...askedIn(subject),
    ),
    blocks: [
      mrkdwn(`${users.map((user) => `<@${user}>`).join(' ')} Nobody has answered yet, so you may.`),
      ...rich(
        headline(subject, `has waited for ${duration(waitedSeconds)}.`, emoji('alarm_clock'), ' '),
        url === null ? null : line(link(url, 'Open in the console')),
      ),
    ],
    files: [],
  }
}

/** Asks the person who wants to accept something dangerous once more. Only they see it. */
export function confirmMessage(
  subject: CardSubject<Approval>,
  look: Pick<CardLook, 'buttonValue'>,
  action: CardAction,
): SlackMessage {
  const { wait, session } = subject
  const label = isChoice(action) ? chosenLabel(wait, action) : labelOf(action)
  return {
    text: sentences(
      `Please confirm “${labelOf(action)}”.`,
      `${notifiedHeadline(subject, asksFor(wait))}.`,
      ...notifiedAsk(wait),
    ),
    blocks: [
      ...rich(line(...riskPieces(wait), bold(`Really “${label}”?`), ' For ', code(shownName(session.agent)), '.')),
      ...warnings(wait),
      ...whatIsMeant(wait),
      ...rich(line('Say yes only if you have read all of it, in the card and in its thread.')),
      actions(button(look, `confirm:${action}`, `Yes, ${labelOf(action).toLowerCase()}`), button(look, 'cancel', 'No')),
    ],
    files: [],
  }
}

function whatIsMeant(wait: Approval): SlackBlock[] {
  if (wait.kind === 'policy') return rich(line(shownNote(wait.title, MOST_INLINE)))
  const instead = edited(wait).blocks
  // A tool of ours need not say what it would do. Its arguments say it.
  const args = wait.kind === 'tool_call' && instead.length === 0 ? callArguments(wait, false).blocks : []
  return [...whatChanges(wait), ...whatIsCalled(wait).blocks, ...args, ...instead]
}

function chosenLabel({ question }: Approval, action: `choose:${number}`): string {
  const choices = question === undefined ? [] : choicesOf(question.schema)
  return choices[Number(action.slice('choose:'.length))]?.label ?? labelOf(action)
}

/** Shows a change again that an operator has edited, before anybody says yes to it. */
export function editedMessage(subject: CardSubject<Approval>, look: CardLook, by: string): SlackMessage {
  const card = renderCard(subject, {
    ...look,
    detail: look.detail === 'minimal' ? 'standard' : look.detail,
    mention: null,
  })
  return {
    text: sentences(`${notifiedName(by)} edited it.`, 'Nothing is decided yet.', card.text),
    blocks: [
      ...rich(
        line(
          emoji('pencil2'),
          ' ',
          bold(shownName(by)),
          ' edited it. Nothing is decided yet: look at the new version, then answer.',
        ),
      ),
      ...card.blocks,
    ],
    files: card.files,
  }
}
