// What an approval asks, as a card: first the risk and what speaks against it, then what would be done, then the agent's own words.

import { shownPath } from '../../../domain/lookalike.ts'
import {
  type Approval,
  type ChangeSummary,
  isWaiting,
  NOBODY_WAITS,
  nobodyWaitsSince,
} from '../../../domain/records/record.ts'
import type { Risk } from '../../../domain/tool-settings.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import { argumentsOf, warningsAbout } from '../../../supervision/approvals/shown-call.ts'
import { choicesOf } from '../../../supervision/records/question-choices.ts'
import { evidence } from './approval-evidence.ts'
import { bold, code, emoji, type Inline, line, type RichPart, rich, type SlackBlock, time } from './blocks.ts'
import { button, type CardBody, type CardLook, type CardSubject, labelOf, type Room } from './card.ts'
import { notifiedName, notifiedNote, shownName, shownNote, shownProse } from './shown-text.ts'

const MOST_PATH = 300
const MOST_WARNING = 200
const MOST_WARNINGS = 5
const MOST_NAMED = 3

export function approvalBody(subject: CardSubject<Approval>, look: CardLook, room: Room): CardBody {
  const { wait } = subject
  const { blocks, files } = evidence(subject, look, room)
  return {
    asks: asksFor(wait),
    notified: notifiedAsk(wait),
    blocks: [...warnings(wait), ...whatChanges(wait), ...blocks, ...yeses(subject)],
    files: isWaiting(wait) ? files : [],
    buttons: buttonsOf(wait, look),
    hint: hintOf(wait),
  }
}

/** The risk in front of everything else. */
export const riskPieces = ({ risk }: Pick<Approval, 'risk'>): (Inline | string)[] => [
  emoji(RISK_MARKS[risk]),
  ' ',
  bold(`Risk ${risk}`),
  ' · ',
]

const RISK_MARKS: Readonly<Record<Risk, string>> = {
  low: 'large_blue_circle',
  high: 'large_orange_circle',
  critical: 'red_circle',
}

const VERBS: Readonly<Record<ChangeSummary['kind'], { does: string; asks: string }>> = {
  create: { does: 'Creates a new file', asks: 'asks to create a file' },
  modify: { does: 'Changes', asks: 'asks to change a file' },
  delete: { does: 'Deletes the file', asks: 'asks to delete a file' },
}

export function asksFor({ kind, supervised }: Approval): string {
  const change = supervised?.change ?? null
  switch (kind) {
    case 'tool_call':
      return 'asks to call a tool'
    case 'question':
      return 'has a question from one of its tools'
    case 'diff':
      return change === null ? 'asks to change a file' : VERBS[change.kind].asks
    case 'permission':
      return change === null ? 'asks to use a tool of its host' : VERBS[change.kind].asks
    case 'policy':
      return 'has a policy that nobody has accepted'
    default:
      return unreachable(kind)
  }
}

/** What is asked. Arguments of tools only as far as their action says them: secrets are masked there. */
export function notifiedAsk(wait: Approval): string[] {
  const risk = `Risk ${wait.risk}.`
  const change = wait.supervised?.change ?? null
  const tool = `Tool ${notifiedName(wait.tool)}.`
  switch (wait.kind) {
    case 'diff':
    case 'permission': {
      const said = wait.kind === 'diff' ? `It says: ${notifiedNote(wait.title)}` : notifiedNote(wait.title)
      if (change === null) return [tool, said, risk]
      const { path, addedLines, removedLines } = change
      return [`File ${notifiedName(path)}, +${addedLines} −${removedLines}.`, wait.kind === 'diff' ? said : '', risk]
    }
    case 'tool_call':
      return [tool, notifiedNote(wait.action ?? ''), risk]
    case 'question':
      return [tool, `It asks: ${notifiedNote(wait.question?.message ?? wait.description)}`]
    case 'policy':
      return [`${notifiedNote(wait.title)}.`, risk]
    default:
      return unreachable(wait.kind)
  }
}

/** What speaks against it. */
export function warnings(wait: Approval): SlackBlock[] {
  const { supervised, status, kind } = wait
  const change = supervised?.change ?? null
  const isCall = kind === 'tool_call' || kind === 'permission'
  const said = [...(isCall ? warningsAbout(argumentsOf(wait)) : []), ...(change?.warnings ?? [])]
  const left = said.length - MOST_WARNINGS
  const warning = (label: string, text: string): RichPart => line(emoji('warning'), ' ', bold(label), text)
  const lines = [
    ...(change === null || change.protectedBecause === null
      ? []
      : [warning('Protected: ', shownNote(change.protectedBecause, MOST_WARNING))]),
    ...(change?.hasHiddenText === true ? [warning('It hides characters. ', 'They are written out, as <U+202E>.')] : []),
    ...said.slice(0, MOST_WARNINGS).map((text) => warning('', shownNote(text, MOST_WARNING))),
    ...(left > 0 ? [warning('', `… ${left} more warnings`)] : []),
    ...(nobodyWaitsSince(wait) === null ? [] : [warning('', NOBODY_WAITS)]),
    ...(supervised?.isEdited === true && status === 'pending'
      ? [warning('Edited: ', 'an operator has changed what the agent asked for. You decide about the edited version.')]
      : []),
  ]
  return rich(...lines)
}

export function whatChanges({ supervised }: Approval): SlackBlock[] {
  const change = supervised?.change ?? null
  if (change === null) return []
  const { path, kind, addedLines, removedLines } = change
  const what = line(
    bold(`${VERBS[kind].does} `),
    code(shownProse(shownPath(path), MOST_PATH).text),
    ` +${addedLines} −${removedLines}`,
  )
  return rich(what)
}

/** `1 of 2 yeses: ada today at 10:02`. */
function yeses({ wait, quorum }: CardSubject<Approval>): SlackBlock[] {
  if (quorum === null || quorum.needed < 2) return []
  const names = quorum.yeses
    .slice(0, MOST_NAMED)
    .flatMap(({ by, at }, i) => [i === 0 ? ': ' : ', ', bold(shownName(by)), ' ', time(at)])
  const left = quorum.yeses.length - MOST_NAMED
  const more = wait.status === 'pending' ? '. The first no closes it.' : ''
  const count = bold(`${quorum.yeses.length} of ${quorum.needed} yeses`)
  return rich(line(count, ...names, left > 0 ? ` and ${left} more` : '', more))
}

function buttonsOf({ kind, question }: Approval, look: CardLook) {
  const reject = button(look, 'reject', labelOf('reject'))
  if (kind !== 'question') return [button(look, 'accept', labelOf('accept')), reject]
  const choices = question === undefined ? [] : choicesOf(question.schema)
  if (choices.length === 0) return [button(look, 'answer', labelOf('answer')), reject]
  return [...choices.map(({ label }, i) => button(look, `choose:${i}`, label)), reject]
}

function hintOf({ kind, supervised }: Approval): string {
  switch (kind) {
    case 'question':
      return 'Or reply in this thread with answer and your text, or with reject and a reason.'
    case 'diff':
      return supervised?.change?.kind === 'delete'
        ? 'Or reply in this thread with accept, or with reject and a reason.'
        : 'Or reply in this thread with accept, or with reject and a reason. To edit it first, reply with the whole file attached.'
    case 'permission':
    case 'tool_call':
      return 'Or reply in this thread with accept, or with reject and a reason. To edit the arguments first, reply with a JSON file attached.'
    case 'policy':
      return 'Or reply in this thread with accept, or with reject and a reason.'
    default:
      return unreachable(kind)
  }
}
