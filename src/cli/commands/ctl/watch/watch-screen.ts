import { shortIds } from '../../../../domain/id-prefix.ts'
import { YES_NO } from '../../../terminal/confirm.ts'
import { localMinute, localZone } from '../../../terminal/local-time.ts'
import type { Style } from '../../../terminal/style.ts'
import type { ShownRecord } from '../records.ts'
import { agentOf, folderOf, kindOf, riskOf, titleOf } from '../show-record.ts'
import { breakLine, fitting, paintLine } from './screen-line.ts'
import { pageOf, selectedItem, type WatchState } from './watch-state.ts'

const HELP = [
  'up, down, j, k  choose',
  'd, Enter        the whole text or diff',
  'a               approve',
  'r               reject, with a reason',
  'e               edit, then approve',
  'c               let the agent continue',
  'f               what to do instead',
  'x               tell the agent to stop',
  'n               nudge the agent',
  'i               ignore this silence',
  's               tell the agent something',
  '?               this help',
  'q               back, or leave',
  '',
  'In a text: space and Page Down go on, q goes back. What is high or critical can be approved only after all of it has been on the ' +
    'screen. Decisions ask for your passphrase; it is kept for five minutes.',
]

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

const helpLines = ({ size }: WatchState): string[] =>
  HELP.flatMap((line) => breakLine(line, size.columns)).map(({ text }) => text)

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

/** The list, and below it what is selected, as far as there is room. */
function listLines(state: WatchState, style: Style): string[] {
  const { items, size } = state
  const rows = Math.max(1, size.rows - 2)
  const selected = selectedItem(state)
  const details = selected === null ? [] : ['', ...detailLines(selected, size.columns)]
  const listed = Math.max(1, Math.ceil(rows / 2), rows - details.length)
  const at = Math.max(
    0,
    items.findIndex(({ id }) => id === state.selected),
  )
  const first = Math.min(Math.max(0, at - listed + 1), Math.max(0, items.length - listed))
  const ids = shortIds(items.map(({ id }) => id))
  const list = items.slice(first, first + listed).map((item) => {
    const mark = item.id === selected?.id ? '>' : ' '
    const risk = riskOf(item)
    const start = `${mark} ${ids.get(item.id) ?? item.id} ${localMinute(item.record.created_at).slice(11)} ${risk.padEnd(8)} ${kindOf(item)}`
    const folder = folderOf(item)
    const where = [agentOf(item), folder.slice(folder.lastIndexOf('/') + 1)].filter((word) => word !== '').join(' ')
    const line = fitting(`${start}  ${where}  ${titleOf(item)}`, size.columns)
    const painted = risk === 'critical' ? style.red(line) : risk === 'high' ? style.yellow(line) : line
    return mark === '>' ? style.bold(painted) : painted
  })
  return [...list, ...details]
}

function detailLines(item: ShownRecord, columns: number): string[] {
  const lines = [[agentOf(item), folderOf(item)].filter((word) => word !== '').join('  '), titleOf(item)]
  return lines.flatMap((line) => breakLine(line, columns)).map(({ text }) => text)
}

const KEYS: Record<string, string> = {
  approval: '? help  a approve  r reject  d whole text  e edit  s steer  q quit',
  prompt: '? help  c continue  f instead  x stop  d whole text  s steer  q quit',
  wait: '? help  c continue  f instruction  x stop  d whole text  q quit',
  alert: '? help  n nudge  i ignore  d more  s steer  q quit',
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
  return style.dim(fitting(item === null ? '? help  q quit' : (KEYS[item.kind] ?? ''), size.columns))
}
