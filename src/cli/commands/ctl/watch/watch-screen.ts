import { shortIds } from '../../../../domain/text/id-prefix.ts'
import { agentOf, folderOf, riskOf, sinceOf, taskOf, titleOf } from '../../../show-record.ts'
import type { Style } from '../../../terminal/style.ts'
import { YES_NO } from '../../../terminal/terminal-prompt.ts'
import { exactText, localMinute, localZone, terminalLine } from '../../../terminal/terminal-text.ts'
import { brokenText, fitting, paintLine } from './screen-line.ts'
import {
  detailsOf,
  keysOf,
  keyWords,
  type Menu,
  pageOf,
  rowsOf,
  selectedRow,
  spaceBelow,
  type WatchState,
} from './watch-state.ts'

const HELP = [
  'up, down, j, k  choose',
  'd, Enter        the whole text or diff',
  'm               answer, and remember the answer',
  's               tell the agent something',
  '?               this help',
  'q               back, or leave',
]

const HELP_TEXT =
  'In a text: space and Page Down go on, q goes back. What is low is approved by one key, and alike items together. What is high or ' +
  'critical can be approved only after all of it has been on the screen; for critical you also type yes. After a decision the next one ' +
  'opens. Decisions ask for your passphrase; it is kept for five minutes.'

/** The screen: exactly as many lines as it has rows, none wider than it. */
export function screenLines(state: WatchState, style: Style): string[] {
  const { size, view } = state
  const body =
    state.input?.type === 'menu'
      ? menuLines(state.input, size.columns)
      : view.type === 'list'
        ? listLines(state, style)
        : view.type === 'help'
          ? helpLines(state)
          : pageLines(state, style)
  const rows = Math.max(1, size.rows - 2)
  const filled = Array.from({ length: rows }, (_, row) => body[row] ?? '')
  // On a tiny screen the text and what is asked count more than the heading.
  if (size.rows < 2) return state.input === null ? filled : [lastLine(state, style)]
  return [headLine(state, style), ...filled, lastLine(state, style)].slice(size.rows < 3 ? 1 : 0)
}

/** The keys that are always there, and those of what is selected. */
function helpLines(state: WatchState): string[] {
  const [item] = selectedRow(state) ?? []
  const keys = item === undefined ? [] : keysOf(item)
  const answers = keys.map(({ key, action }) => `${key.padEnd(16)}${action.label}. ${action.confirm.help}`)
  const lines = [...HELP, ...(answers.length === 0 ? [] : ['', `${item?.view.label}:`]), ...answers, '', HELP_TEXT]
  return brokenText(lines, state.size.columns)
}

const menuLines = ({ title, choices }: Menu, columns: number): string[] =>
  brokenText([title, '', ...choices.map(({ key, label }) => `${key}  ${label}`)].map(exactText), columns)

function headLine({ items, isLoaded, view, isAway, size, seen, filter }: WatchState, style: Style): string {
  const none = isLoaded ? 'Nothing waits' : 'Looking for what waits'
  const waits = items.length === 0 ? none : `${items.length} ${items.length === 1 ? 'waits' : 'wait'}`
  const away = isAway ? '  the server is away; trying again' : ''
  if (view.type !== 'record')
    return style.bold(fitting(`Quarterdeck  ${waits}${filter}${away}  (times in ${localZone()})`, size.columns))
  const page = pageOf({ size })
  const end = Math.min(view.top + page, view.lines.length)
  const isSeen = view.digest !== null && seen.has(view.digest)
  const place = `lines ${view.top + 1} to ${end} of ${view.lines.length}${isSeen ? ', all seen' : ''}`
  return style.bold(fitting(`${place}${away}`, size.columns))
}

function pageLines(state: WatchState, style: Style): string[] {
  const { view } = state
  if (view.type !== 'record') return []
  return view.lines.slice(view.top, view.top + pageOf(state)).map((line) => paintLine(line, style))
}

/** The list, and below it what is selected, as far as there is space. */
function listLines(state: WatchState, style: Style): string[] {
  const { size } = state
  const page = pageOf(state)
  const selected = selectedRow(state)
  const { needed, more } = selected === null ? { needed: [], more: [] } : detailsOf(selected, state)
  const details = [...needed, ...more].slice(0, Math.max(spaceBelow(state), 0))
  const listed = Math.max(1, page - details.length - 1)
  const rows = rowsOf(state)
  const at = Math.max(
    0,
    rows.findIndex(([{ view }]) => view.id === selected?.[0].view.id),
  )
  const first = Math.min(Math.max(0, at - listed + 1), Math.max(0, rows.length - listed))
  const ids = shortIds(state.items.map(({ view }) => view.id))
  const list = rows.slice(first, first + listed).map(([{ view }, ...alike]) => {
    const mark = view.id === selected?.[0].view.id ? '>' : ' '
    const risk = riskOf(view)
    const start = `${mark} ${ids.get(view.id) ?? view.id} ${localMinute(sinceOf(view)).slice(11)} ${risk.padEnd(8)}`
    const folder = folderOf(view)
    const where = [agentOf(view), folder.slice(folder.lastIndexOf('/') + 1)].filter((word) => word !== '').join(' ')
    const title = `${alike.length === 0 ? '' : `${alike.length + 1}x `}${titleOf(view)}`
    const line = joined(
      `${start} ${where}  ${title}`,
      [terminalLine(view.risk?.why ?? '', 200), taskOf(view)],
      size.columns,
    )
    const painted = risk === 'critical' ? style.red(line) : risk === 'high' ? style.yellow(line) : line
    return mark === '>' ? style.bold(painted) : painted
  })
  return [...list, ...(details.length === 0 ? [] : ['', ...details])]
}

function lastLine(state: WatchState, style: Style): string {
  const { input, notice, size } = state
  if (input?.type === 'menu') return style.dim(fitting('Press a number or a letter; Escape leaves it', size.columns))
  if (input !== null) {
    if (input.type === 'yes')
      return fitting(`${fitting(input.question, size.columns - YES_NO.length)}${YES_NO}`, size.columns)
    const whole = `${input.label}${input.text}_`
    // While typing, the end matters.
    return fitting(whole, size.columns) === whole
      ? whole
      : fitting(
          Array.from(whole)
            .slice(-Math.floor((size.columns - 1) / 2))
            .join(''),
          size.columns,
        )
  }
  if (notice !== '') return style.yellow(fitting(notice, size.columns))
  const keys = selectedRow(state)?.slice(0, 1).flatMap(keyWords) ?? []
  return style.dim(joined('? help', [...keys, 'q quit'], size.columns))
}

/** The first, and as many of the others as fit whole. */
const joined = (first: string, words: readonly string[], columns: number): string =>
  words.reduce(
    (line, word) => {
      const longer = `${line}  ${word}`
      return word !== '' && fitting(longer, columns) === longer ? longer : line
    },
    fitting(first, columns),
  )
