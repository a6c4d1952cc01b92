import { shortIds } from '../../../../domain/text/id-prefix.ts'
import type { RecordView } from '../../../../protocols/manage/records/schema.ts'
import { agentOf, folderOf, riskOf, titleOf } from '../../../show-record.ts'
import type { Style } from '../../../terminal/style.ts'
import { YES_NO } from '../../../terminal/terminal-prompt.ts'
import { localMinute, localZone, terminalLine } from '../../../terminal/terminal-text.ts'
import { breakLine, fitting, paintLine } from './screen-line.ts'
import { canBeSteered, keysOf, keyWords, pageOf, selectedItem, type WatchState } from './watch-state.ts'

const MOST_WARNING = 500

const HELP = [
  'up, down, j, k  choose',
  'd, Enter        the whole text or diff',
  's               tell the agent something',
  '?               this help',
  'q               back, or leave',
]

const HELP_TEXT =
  'In a text: space and Page Down go on, q goes back. What is high or critical can be approved only after all of it has been on the ' +
  'screen. Decisions ask for your passphrase; it is kept for five minutes.'

/** The screen: exactly as many lines as it has rows, none wider than it. */
export function screenLines(state: WatchState, style: Style): string[] {
  const { size, view } = state
  const body =
    view.type === 'list' ? listLines(state, style) : view.type === 'help' ? helpLines(state) : pageLines(state, style)
  const rows = Math.max(1, size.rows - 2)
  const filled = Array.from({ length: rows }, (_, row) => body[row] ?? '')
  // On a tiny screen the text and what is asked count more than the heading.
  if (size.rows < 2) return state.input === null ? filled : [lastLine(state, style)]
  return [headLine(state, style), ...filled, lastLine(state, style)].slice(size.rows < 3 ? 1 : 0)
}

/** The keys that are always there, and those of what is selected. */
function helpLines(state: WatchState): string[] {
  const item = selectedItem(state)
  const keys = item === null ? [] : keysOf(item)
  const answers = keys.map(({ key, action }) => `${key.padEnd(16)}${action.label}. ${action.confirm.help}`)
  const lines = [...HELP, ...(answers.length === 0 ? [] : ['', `${item?.view.label}:`]), ...answers, '', HELP_TEXT]
  return lines.flatMap((line) => breakLine(line, state.size.columns)).map(({ text }) => text)
}

function headLine({ items, isLoaded, view, isAway, size, seen }: WatchState, style: Style): string {
  const none = isLoaded ? 'Nothing waits' : 'Looking for what waits'
  const waits = items.length === 0 ? none : `${items.length} ${items.length === 1 ? 'waits' : 'wait'}`
  const away = isAway ? '  the server is away; trying again' : ''
  if (view.type !== 'record')
    return style.bold(fitting(`Quarterdeck  ${waits}${away}  (times in ${localZone()})`, size.columns))
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
  const { items, size } = state
  const rows = Math.max(1, size.rows - 2)
  const selected = selectedItem(state)
  const details = selected === null ? [] : ['', ...detailLines(selected.view, size.columns)]
  const listed = Math.max(1, Math.ceil(rows / 2), rows - details.length)
  const at = Math.max(
    0,
    items.findIndex(({ view }) => view.id === state.selected),
  )
  const first = Math.min(Math.max(0, at - listed + 1), Math.max(0, items.length - listed))
  const ids = shortIds(items.map(({ view }) => view.id))
  const list = items.slice(first, first + listed).map(({ view }) => {
    const mark = view.id === selected?.view.id ? '>' : ' '
    const risk = riskOf(view)
    const start = `${mark} ${ids.get(view.id) ?? view.id} ${localMinute(view.asked_at).slice(11)} ${risk.padEnd(8)}`
    const folder = folderOf(view)
    const where = [agentOf(view), folder.slice(folder.lastIndexOf('/') + 1)].filter((word) => word !== '').join(' ')
    const line = fitting(`${start} ${where}  ${titleOf(view)}`, size.columns)
    const painted = risk === 'critical' ? style.red(line) : risk === 'high' ? style.yellow(line) : line
    return mark === '>' ? style.bold(painted) : painted
  })
  return [...list, ...details]
}

function detailLines(view: RecordView, columns: number): string[] {
  const lines = [
    [view.label, agentOf(view), folderOf(view)].filter((word) => word !== '').join('  '),
    titleOf(view),
    ...view.warnings.map((warning) => terminalLine(warning, MOST_WARNING)),
  ]
  return lines.flatMap((line) => breakLine(line, columns)).map(({ text }) => text)
}

function lastLine(state: WatchState, style: Style): string {
  const { input, notice, size } = state
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
  const item = selectedItem(state)
  const keys = item === null ? [] : [...keyWords(item), 'd whole text', ...(canBeSteered(item) ? ['s steer'] : [])]
  return style.dim(fitting(['? help', 'q quit', ...keys].join('  '), size.columns))
}
