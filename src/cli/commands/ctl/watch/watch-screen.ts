import { shortIds } from '../../../../domain/id-prefix.ts'
import type { Style } from '../../../terminal/style.ts'
import { kindOf, riskOf, titleOf } from '../show-record.ts'
import { fitting, paintLine } from './screen-line.ts'
import { pageOf, selectedItem, type WatchState } from './watch-state.ts'

const HELP = [
  'up, down, j, k   choose                      d, Enter   the whole text or diff',
  'a                approve                     r          reject, with a reason',
  'e                edit, then approve          c          let the agent continue',
  'f                what to do instead          x          tell the agent to stop',
  'n                nudge the agent             i          ignore this silence',
  's                tell the agent something    ?          this help',
  'q                back, or leave',
  '',
  'In a text: space and Page Down go on, q goes back. What is high or critical can be approved only after',
  'all of it has been on the screen. Decisions ask for your passphrase; it is kept for five minutes.',
]

/** The screen: exactly as many lines as it has rows, none wider than it. */
export function screenLines(state: WatchState, style: Style): string[] {
  const { size, view } = state
  const body = view.type === 'list' ? listLines(state, style) : view.type === 'help' ? HELP : pageLines(state, style)
  const rows = Math.max(1, size.rows - 2)
  const filled = Array.from({ length: rows }, (_, row) => body[row] ?? '')
  return [headLine(state, style), ...filled, lastLine(state, style)].slice(0, Math.max(1, size.rows))
}

function headLine({ items, isLoaded, view, isAway, size, seen }: WatchState, style: Style): string {
  const none = isLoaded ? 'Nothing waits' : 'Looking for what waits'
  const waits = items.length === 0 ? none : `${items.length} ${items.length === 1 ? 'waits' : 'wait'}`
  const away = isAway ? '  the server is away; trying again' : ''
  if (view.type !== 'record') return style.bold(fitting(`Quarterdeck  ${waits}${away}`, size.columns))
  const page = pageOf({ size })
  const end = Math.min(view.top + page, view.lines.length)
  const isSeen = view.digest !== null && seen.has(view.digest)
  const place = `lines ${view.top + 1} to ${end} of ${view.lines.length}${isSeen ? ', all seen' : ''}`
  return style.bold(fitting(`Quarterdeck  ${place}${away}`, size.columns))
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
  const at = Math.max(
    0,
    items.findIndex(({ id }) => id === state.selected),
  )
  const first = Math.min(Math.max(0, at - rows + 1), Math.max(0, items.length - rows))
  const ids = shortIds(items.map(({ id }) => id))
  return items.slice(first, first + rows).map((item) => {
    const mark = item.id === selectedItem(state)?.id ? '>' : ' '
    const risk = riskOf(item)
    const start = `${mark} ${ids.get(item.id) ?? item.id}  ${kindOf(item).padEnd(10)} ${risk.padEnd(8)} ${item.record.created_at.slice(11, 16)}  `
    const line = fitting(`${start}${titleOf(item)}`, size.columns)
    const painted = risk === 'critical' ? style.red(line) : risk === 'high' ? style.yellow(line) : line
    return mark === '>' ? style.bold(painted) : painted
  })
}

const KEYS: Record<string, string> = {
  approval: 'a approve  r reject  e edit  d whole diff  s steer  ? help  q quit',
  prompt: 'c continue  f instead  x stop  d whole text  s steer  ? help  q quit',
  wait: 'c continue  f instruction  x stop  d whole text  ? help  q quit',
  alert: 'n nudge  i ignore  d more  s steer  ? help  q quit',
}

function lastLine(state: WatchState, style: Style): string {
  const { input, notice, size } = state
  if (input !== null) {
    const typed = input.type === 'text' ? `${input.text}_` : ''
    const whole = `${input.label}${typed}`
    const characters = Array.from(whole)
    // While typing, the end matters; a question is short.
    return input.type === 'text' && characters.length > size.columns
      ? characters.slice(-Math.floor(size.columns / 2)).join('')
      : fitting(whole, size.columns)
  }
  if (notice !== '') return style.yellow(fitting(notice, size.columns))
  const item = selectedItem(state)
  return style.dim(fitting(item === null ? '? help  q quit' : (KEYS[item.kind] ?? ''), size.columns))
}
