// The message that begins the thread of a session. It is brought up to date when the session changes.

import type { SessionStatus } from '../../../domain/session/session.ts'
import { bold, code, emoji, line, quote, rich, type SlackMessage } from './blocks.ts'
import { type CardLook, type CardSession, checklist, headline, notifiedHeadline } from './card.ts'
import { consoleLine } from './render-card.ts'
import { notifiedName, shownName, shownProse } from './shown-text.ts'

const MOST_TITLE = 300
const MOST_PROMPT = 600
const MOST_STEPS = 20

const STATUS: Readonly<Record<SessionStatus, { mark: string; words: string }>> = {
  created: { mark: 'hourglass_flowing_sand', words: 'starting' },
  active: { mark: 'large_green_circle', words: 'active' },
  paused: { mark: 'double_vertical_bar', words: 'paused' },
  interrupted: { mark: 'octagonal_sign', words: 'interrupted' },
  terminated: { mark: 'white_circle', words: 'terminated' },
}

export function sessionRoot(
  session: CardSession,
  { detail, link: url }: Pick<CardLook, 'detail' | 'link'>,
): SlackMessage {
  if (session.isWorkspace) return workspaceRoot(session)
  const { mark, words } = STATUS[session.status]
  const said = [
    ...(session.title === null || session.title === '' ? [] : [quote(shownProse(session.title, MOST_TITLE).text)]),
    ...(session.prompt === null || session.prompt === '' || detail === 'minimal'
      ? []
      : [line(bold('It was started with:')), quote(shownProse(session.prompt, MOST_PROMPT).text)]),
  ]
  const steps = detail === 'minimal' ? [] : checklist('Its own list of steps', session.progress, MOST_STEPS)
  return {
    text: `${notifiedHeadline(session, `is ${words}`)}.`,
    blocks: [
      ...rich(
        headline(session, `is ${words}`, emoji(mark), ' '),
        line('Owner ', bold(shownName(session.owner)), ' · session ', code(shownName(session.id))),
      ),
      ...rich(...said),
      ...rich(...steps),
      ...rich(consoleLine(url)),
    ],
    files: [],
  }
}

/** What belongs to a workspace and to no agent in it. */
function workspaceRoot({ folder, owner }: CardSession): SlackMessage {
  const name = folder ?? ''
  return {
    text: `Workspace ${notifiedName(name)}. What belongs to no agent in it.`,
    blocks: rich(
      line(emoji('file_folder'), ' Workspace ', code(shownName(name))),
      line('What belongs to no agent in it · owner ', bold(shownName(owner))),
    ),
    files: [],
  }
}
