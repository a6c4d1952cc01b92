// Records as lines for a terminal. Everything that an agent wrote passes `exactText` or `exactValue`, so that it cannot move the
// cursor, fake a line or hide a character.

import { unreachable } from '../domain/unreachable.ts'
import type { RecordView } from '../protocols/manage/records/schema.ts'
import type { Style } from './terminal/style.ts'
import { exactText, exactValue, localTime, localZone, terminalLine } from './terminal/terminal-text.ts'

const LONGEST_LINE = 1_000

/** One line for lists. */
export const titleOf = ({ title, gist }: Pick<RecordView, 'title' | 'gist'>): string =>
  terminalLine(gist === '' ? title : `${title} (${gist})`, LONGEST_LINE)

export const agentOf = ({ agent }: RecordView): string => terminalLine(agent, 40)
export const folderOf = ({ folder }: RecordView): string => exactValue(folder ?? '')
export const riskOf = ({ risk }: RecordView): string => risk?.level ?? ''

/** What the agent is busy with: the user's words, its own, or the title of its session. */
export const taskOf = ({ context, session }: RecordView): string =>
  terminalLine(context.request ?? context.said ?? session.title ?? '', 120)

/** What somebody who was not there needs to decide. */
export const contextLines = ({ context, session }: RecordView): string[] => [
  ...row('task', session.title),
  ...row('request', context.request),
  ...row('said', context.said),
  ...row('tool', context.tool),
  ...row('before', context.before),
]

/** An alert is made when an agent has been silent for a while: it tells of the time before, too. */
export const sinceOf = ({ kind, context, asked_at }: RecordView): string =>
  kind === 'alert' ? context.still_since : asked_at

/** Whether the whole text must have been on the screen before a yes. */
export const mustBeSeen = ({ risk }: RecordView): boolean => risk !== null && risk.level !== 'low'

/** The whole record, nothing left out. */
export function recordLines(view: RecordView, style: Style): string[] {
  const { label, id, session, expires_at, outcome } = view
  return [
    `${style.bold(label)}  ${exactValue(id)}`,
    ...row('session', session.id),
    ...row('agent', agentOf(view)),
    ...row('folder', folderOf(view)),
    ...contextLines(view),
    ...row('since', `${localTime(sinceOf(view))} (${localZone()})`),
    ...(outcome === null && expires_at !== null ? row('expires', localTime(expires_at)) : []),
    ...row('about', view.title),
    ...(outcome === null ? [] : outcomeLines(outcome)),
    ...riskLines(view, style),
    ...factLines(view.facts),
    ...view.warnings.flatMap((warning) => exactText(warning).split('\n')).map(style.yellow),
    ...bodyLines(view, style),
  ]
}

function riskLines({ risk }: RecordView, style: Style): string[] {
  if (risk === null) return []
  const [line = ''] = row('risk', risk.why === null ? risk.level : `${risk.level}: ${risk.why}`)
  return [risk.level === 'low' ? line : style.red(line)]
}

type Outcome = NonNullable<RecordView['outcome']>

/** How it ended, in a sentence. */
export const outcomeText = (outcome: Outcome): string =>
  terminalLine([`${endOf(outcome)}.`, outcome.more].filter((text) => text !== '').join(' '), LONGEST_LINE)

const endOf = ({ word, by, via, at }: Outcome): string =>
  [
    word,
    ...(by === null ? [] : [`by ${by}`]),
    ...(via === null ? [] : [via]),
    ...(at === null ? [] : [localTime(at)]),
  ].join(' ')

function outcomeLines(outcome: Outcome): string[] {
  const { reason, more, words, facts } = outcome
  return [
    ...row('status', endOf(outcome)),
    ...row('reason', reason),
    ...row('', more),
    ...(words === null ? [] : row(words.title, words.text)),
    ...factLines(facts),
  ]
}

const factLines = (facts: RecordView['facts']): string[] =>
  facts.flatMap(({ name, text, at }) =>
    row(name, [text, ...(at === null ? [] : [localTime(at)])].filter((word) => word !== '').join(', ')),
  )

interface Look {
  /** Arguments are cut where they are long. */
  isShort?: boolean
}

/** What is behind the question. Words of others stand apart from ours, and only a diff begins at the edge. */
export const bodyLines = ({ body }: Pick<RecordView, 'body'>, style: Style, look: Look = {}): string[] =>
  body.flatMap((part) => [
    '',
    ...(part.title === '' ? [] : [style.dim(`${terminalLine(part.title, LONGEST_LINE)}:`)]),
    ...partLines(part, style, look),
  ])

function partLines(part: RecordView['body'][number], style: Style, { isShort = false }: Look): string[] {
  switch (part.type) {
    case 'prose':
      return exactText(part.text).split('\n').map(indented)
    case 'diff':
      return part.text.split('\n').map((line) => paintDiff(line, style))
    case 'arguments':
      return isShort ? exactText(part.text).split('\n').map(indented) : argumentLines(part.whole)
    case 'steps':
      return part.steps.map(({ label, status }) => indented(`${STEPS[status]} ${terminalLine(label, 200)}`))
    default:
      return unreachable(part)
  }
}

const argumentLines = (given: Record<string, unknown>): string[] =>
  Object.entries(given).map(([name, value]) =>
    indented(`${exactValue(name)}: ${exactValue(typeof value === 'string' ? value : JSON.stringify(value))}`),
  )

const STEPS = { done: '[x]', in_progress: '[~]', pending: '[ ]' }
const indented = (line: string): string => `  ${line}`

export function paintDiff(line: string, style: Style): string {
  const safe = exactText(line)
  if (safe.startsWith('+')) return style.green(safe)
  if (safe.startsWith('-')) return style.red(safe)
  return safe.startsWith('@@') ? style.cyan(safe) : safe
}

const row = (name: string, value: string | null): string[] =>
  value === null || value === '' ? [] : [`${name.toLowerCase().padEnd(10)} ${terminalLine(value, LONGEST_LINE)}`]
