// Messages that are not cards: summaries, lines of a log, notices, and the second look before a yes.

import type { LineLevel } from '../../../domain/supervision/delivery.ts'
import type { RecordView } from '../../../supervision/records/record-view.ts'
import { duration } from '../../../supervision/records/record-words.ts'
import { scopeWords } from '../../../supervision/remember/match-label.ts'
import { bold, code, emoji, line, link, mrkdwn, plain, quote, rich, type SlackMessage } from './blocks.ts'
import {
  type CardLook,
  type CardSession,
  headline,
  listed,
  markPieces,
  notifiedHeadline,
  notifiedPlace,
} from './card.ts'
import { actionIn, button, buttonRow, type RememberAction } from './card-actions.ts'
import { lastLook } from './card-body.ts'
import { consoleLine, notifiedAsk, renderCard, titleLine, warnings } from './render-card.ts'
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
  session: Pick<CardSession, 'agent' | 'folder'>,
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

/** Something that people should know, such as a change of a mode. */
export function notice(text: string): SlackMessage {
  const shown = shownProse(text, MOST_TEXT).text
  return {
    text: notifiedProse(text, MOST_NOTIFIED) || 'Notice',
    blocks: rich(line(emoji('bell'), ' ', shown === '' ? 'Notice' : plain(shown))),
  }
}

/** An agent is still silent after all nudges. A message of its own, because bringing a card up to date notifies nobody. */
export function escalationMessage(view: RecordView, idleSeconds: number, url: string | null): SlackMessage {
  const now = `${view.asks}, now for ${duration(idleSeconds)}`
  return {
    text: sentences('An agent needs somebody to look.', `${notifiedHeadline(view, now)}.`),
    blocks: [
      mrkdwn('<!channel> An agent needs somebody to look.'),
      ...rich(headline(view, `${now}.`, ...markPieces(view)), consoleLine(url)),
    ],
  }
}

/** Calls further people, because nobody has answered for so long. `users` are Slack ids of our settings. */
export function callMessage(
  view: RecordView,
  users: readonly string[],
  waitedSeconds: number,
  url: string | null,
): SlackMessage {
  // The whole room only for what is worth it.
  const called = [...(view.risk?.level === 'critical' ? ['<!channel>'] : []), ...users.map((user) => `<@${user}>`)]
  return {
    text: sentences(
      `${notifiedHeadline(view, `has waited for an answer for ${duration(waitedSeconds)}`)}.`,
      'Nobody has answered yet, so you may.',
      ...notifiedAsk(view),
    ),
    blocks: [
      mrkdwn(`${called.join(' ')} Nobody has answered yet, so you may.`),
      ...rich(
        headline(view, `has waited for ${duration(waitedSeconds)}.`, emoji('alarm_clock'), ' '),
        consoleLine(url),
      ),
    ],
  }
}

/** Shows a call once more to the person who is about to answer. Only they see it. */
const onceMore = (view: RecordView, title: string, blocks: SlackMessage['blocks']): SlackMessage => ({
  text: sentences(title, `${notifiedHeadline(view, view.asks)}.`, ...notifiedAsk(view)),
  blocks: [
    ...rich(line(...markPieces(view), bold(title), ' For ', code(shownName(view.agent)), '.')),
    ...warnings(view),
    ...titleLine(view),
    ...lastLook(view),
    ...blocks,
  ],
})

/** Asks the person who wants to approve something dangerous once more. */
export function confirmMessage(view: RecordView, look: Pick<CardLook, 'buttonValue'>): SlackMessage {
  const { label, title } = approving(view)
  // Names of branches and files keep their case.
  const yes = `Yes, ${label.charAt(0).toLowerCase()}${label.slice(1)}`
  return onceMore(view, title, [
    ...rich(line('Say yes only if you have read all of it, in the card and in its thread.')),
    buttonRow(button(look, 'confirm:approve', yes), button(look, 'cancel', 'No')),
  ])
}

const MOST_OFFERED = 5

/** What may be remembered with a yes, or with a no. A press of it is one. */
export function rememberMessage(
  view: RecordView,
  look: Pick<CardLook, 'buttonValue'>,
  action: RememberAction,
): SlackMessage {
  const { scopes = [], matches = [] } = view.remember ?? {}
  const labels = matches.length === 0 ? ['The same call'] : matches.slice(0, MOST_OFFERED).map(({ label }) => label)
  const title = action === 'remember' ? 'Approve, and allow from now on?' : 'Reject, and refuse from now on?'
  return onceMore(view, title, [
    ...labels.flatMap((label, i) => [
      ...rich(line(`${i + 1}. `, code(shownNote(label, MOST_INLINE)))),
      buttonRow(...scopes.map((scope) => button(look, `${action}:${i}:${scope}`, `${i + 1} ${scopeWords[scope]}`))),
    ]),
    buttonRow(button(look, 'cancel', 'No')),
  ])
}

const MOST_LISTED = 20

/** What is low and still waits, in the order that it is given in. It calls nobody. */
export function digestMessage(views: readonly RecordView[], url: string | null): SlackMessage {
  const head = `${views.length} of low risk ${views.length === 1 ? 'waits' : 'wait'} for an answer.`
  const left = views.length - MOST_LISTED
  return {
    text: head,
    blocks: rich(
      line(emoji('inbox_tray'), ' ', bold(head)),
      ...views.slice(0, MOST_LISTED).map((view) => headline(view, `· ${listed(view, MOST_INLINE)}`)),
      left > 0 ? line(`… ${left} more`) : null,
      consoleLine(url),
    ),
  }
}

function approving({ actions }: RecordView): { label: string; title: string } {
  const action = actionIn(actions, 'approve')
  if (action === undefined) throw new Error('Nobody can approve this.')
  return { label: action.label, title: action.confirm.title }
}

/** Shows a change again that an operator has edited, before anybody says yes to it. */
export function editedMessage(view: RecordView, look: CardLook, by: string): SlackMessage {
  const card = renderCard(view, {
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
  }
}
