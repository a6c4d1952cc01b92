// What the live inbox shows and what each key does, without a terminal: `watch.ts` carries out the effects.

import { scopeWords } from '../../../../supervision/remember/match-label.ts'
import { agentOf, contextLines, folderOf, mustBeSeen, riskOf, titleOf } from '../../../show-record.ts'
import { terminalLine } from '../../../terminal/terminal-text.ts'
import type { ShownRecord, ViewAction } from '../records.ts'
import { breakLine, brokenText, type ScreenLine } from './screen-line.ts'

export interface WatchState {
  items: readonly ShownRecord[]
  /** False until the server has answered for the first time. */
  isLoaded: boolean
  /** Id of the selected item. */
  selected: string | null
  view: { type: 'list' } | { type: 'help' } | OpenRecord
  input: Input | null
  /** One line about what happened last. */
  notice: string
  /** Digests that were on the screen to the last line. */
  seen: ReadonlySet<string>
  isAway: boolean
  /** Which items are shown, in words; empty: all. */
  filter: string
  size: { columns: number; rows: number }
}

/** A whole record, page by page. */
interface OpenRecord {
  type: 'record'
  id: string
  /** What approvals are about; null for other records. */
  digest: string | null
  /** Without colours. */
  source: readonly string[]
  /** The same, broken to the width of the screen: nothing may be cut off at its edge. */
  lines: readonly ScreenLine[]
  /** The first line on the screen. */
  top: number
  /** How many lines from the beginning have been on the screen without a gap. */
  shown: number
}

type Input =
  /** `effect` null: what was typed is no yes. */
  | { type: 'text'; label: string; text: string; isNeeded: boolean; effect: (text: string) => Effect | null }
  | { type: 'yes'; question: string; effect: Effect }
  | Menu

export interface Menu {
  type: 'menu'
  title: string
  choices: readonly { key: string; label: string; to: Input | Effect }[]
}

/** One item, or several that are alike and decided together. */
export type Row = readonly [ShownRecord, ...ShownRecord[]]

export type Effect =
  | { type: 'quit'; interrupted: boolean }
  | { type: 'open'; row: Row }
  /** `more`: what to remember with it. */
  | { type: 'answer'; row: Row; action: ViewAction; text: string; more: Record<string, unknown> }
  /** To a question of a tool. */
  | { type: 'respond'; item: ShownRecord }
  | { type: 'edit'; item: ShownRecord }
  | { type: 'steer'; item: ShownRecord; text: string }

export interface Key {
  /** `up`, `return`, `escape`, `a`, … */
  name: string
  ctrl: boolean
  /** What was typed, if it is text. */
  text: string
}

export type Turn = { state: WatchState; effect: Effect | null }

export const firstState = (size: WatchState['size'], filter = ''): WatchState => ({
  items: [],
  isLoaded: false,
  selected: null,
  view: { type: 'list' },
  input: null,
  notice: '',
  seen: new Set(),
  isAway: false,
  filter,
  size,
})

const stay = (state: WatchState): Turn => ({ state, effect: null })
const note = (state: WatchState, notice: string): Turn => stay({ ...state, notice })

/** What the server takes at once. */
const MOST_TOGETHER = 100

/** Alike items of low risk are one row, where the first of them stands. */
export function rowsOf({ items }: Pick<WatchState, 'items'>): Row[] {
  const rows = new Map<string, [ShownRecord, ...ShownRecord[]]>()
  for (const item of items) {
    const { id, group } = item.view
    const key = group === null || riskOf(item.view) !== 'low' ? id : `alike ${group}`
    const row = rows.get(key)
    if (row === undefined) rows.set(key, [item])
    else if (row.length < MOST_TOGETHER) row.push(item)
    else rows.set(id, [item])
  }
  return [...rows.values()]
}

const isIn = (row: Row, id: string | null): boolean => row.some(({ view }) => view.id === id)

export const selectedRow = (state: WatchState): Row | null =>
  rowsOf(state).find((row) => isIn(row, state.selected)) ?? null

/** The lines of a record that fit: everything but the heading and the last line. */
export const pageOf = ({ size }: Pick<WatchState, 'size'>): number => Math.max(1, size.rows - 2)

const idOf = ({ view }: ShownRecord): string => view.id

const GONE = 'It waits no longer: somebody answered, or its time was over.'

/** A new list from the server. The selection stays where it was, or moves to what took its place. */
export function takeItems(state: WatchState, items: readonly ShownRecord[]): { state: WatchState; isNew: boolean } {
  const known = new Set(state.items.map(idOf))
  const rows = rowsOf({ items })
  const at = Math.max(
    0,
    rowsOf(state).findIndex((row) => isIn(row, state.selected)),
  )
  const isKept = items.some((item) => idOf(item) === state.selected)
  const selected = isKept ? state.selected : (rows[Math.min(at, rows.length - 1)]?.[0].view.id ?? null)
  const { view } = state
  const isGone = view.type === 'record' && !items.some((item) => idOf(item) === view.id)
  return {
    state: {
      ...state,
      items,
      isLoaded: true,
      selected,
      isAway: false,
      // What is asked now must not turn into an answer about something else.
      ...(isKept || state.input === null ? {} : { input: null, notice: GONE }),
      ...(isGone ? { view: { type: 'list' }, input: null, notice: GONE } : {}),
    },
    isNew: items.some((item) => !known.has(idOf(item))),
  }
}

/** Reading it took time. What was answered meanwhile is not opened: the keys would be about another item. */
export function openRecord(state: WatchState, row: Row, source: readonly string[]): WatchState {
  const [item] = row
  if (!isIn(row, state.selected)) return { ...state, notice: GONE }
  const view: OpenRecord = {
    type: 'record',
    id: item.view.id,
    digest: item.digest === undefined ? null : lookOf(row),
    source,
    lines: broken(source, state),
    top: 0,
    shown: 0,
  }
  return scrollTo({ ...state, view }, 0)
}

const broken = (source: readonly string[], { size }: WatchState): ScreenLine[] =>
  source.flatMap((line) => breakLine(line, size.columns))

export function resize(state: WatchState, size: WatchState['size']): WatchState {
  const resized = { ...state, size }
  const { view } = state
  if (view.type !== 'record') return resized
  // The lines are others now, so counting begins anew.
  return scrollTo({ ...resized, view: { ...view, lines: broken(view.source, resized), shown: 0 } }, 0)
}

export function pressKey(state: WatchState, key: Key): Turn {
  if (key.ctrl && key.name === 'c') return { state, effect: { type: 'quit', interrupted: true } }
  if (state.input !== null) return typeInto(state, state.input, key)
  const quiet = { ...state, notice: '' }
  if (state.view.type === 'help') return stay({ ...quiet, view: { type: 'list' } })
  if (key.text === '?') return stay({ ...quiet, view: { type: 'help' } })
  if (state.view.type === 'record') {
    if (key.name === 'q' || key.name === 'escape' || key.name === 'left')
      return stay({ ...quiet, view: { type: 'list' } })
    const to = scrollTarget(state.view.top, pageOf(state), state.view.lines.length, key)
    if (to !== null) return stay(scrollTo(quiet, to))
  } else {
    if (key.name === 'q') return { state, effect: { type: 'quit', interrupted: false } }
    const step = { up: -1, k: -1, down: 1, j: 1 }[key.name]
    if (step !== undefined) return stay(select(quiet, step))
  }
  return act(quiet, key)
}

function select(state: WatchState, step: number): WatchState {
  const rows = rowsOf(state)
  const at = rows.findIndex((row) => isIn(row, state.selected))
  const next = rows[Math.min(Math.max(at + step, 0), rows.length - 1)]
  return { ...state, selected: next?.[0].view.id ?? null }
}

function scrollTarget(top: number, page: number, length: number, { name, text }: Key): number | null {
  const steps: Record<string, number> = { up: -1, k: -1, down: 1, j: 1, pageup: -page, pagedown: page, space: page }
  if (name === 'home' || text === 'g') return 0
  if (name === 'end' || text === 'G') return length
  const step = steps[name]
  return step === undefined ? null : top + step
}

/** A jump to the end leaves a gap, so what lies between has not been on the screen. */
function scrollTo(state: WatchState, wanted: number): WatchState {
  const { view } = state
  if (view.type !== 'record') return state
  const page = pageOf(state)
  const top = Math.min(Math.max(wanted, 0), Math.max(0, view.lines.length - page))
  const shown = top <= view.shown ? Math.max(view.shown, top + page) : view.shown
  const isSeen = view.digest !== null && shown >= view.lines.length
  return {
    ...state,
    view: { ...view, top, shown },
    ...(isSeen && view.digest !== null ? { seen: new Set([...state.seen, view.digest]) } : {}),
  }
}

/** Going on has one key, whatever it is called, and `s` steers. */
const OWN_KEYS: Partial<Record<ViewAction['name'], string>> = { resume: 'c', refine: 'f', stop: 'x' }
/** They do the same whatever is selected. */
const SAME_EVERYWHERE = ['d', 'g', 'j', 'k', 'm', 'q', 's']

/** The key of an action is the first letter of its name that nothing else has. */
export function keysOf({ view }: ShownRecord): { key: string; action: ViewAction }[] {
  const taken = new Set([...SAME_EVERYWHERE, ...view.actions.flatMap(({ name }) => OWN_KEYS[name] ?? [])])
  return view.actions.map((action) => {
    const key = OWN_KEYS[action.name] ?? [...action.name].find((letter) => !taken.has(letter)) ?? ''
    taken.add(key)
    return { key, action }
  })
}

/** Only agents elsewhere have a folder. */
export const canBeSteered = ({ view }: ShownRecord): boolean => view.folder !== null

const MOST_LABEL = 30

/** What a key does, named as the button of other surfaces is. */
const labelOf = ({ label }: ViewAction): string => {
  const [first = '', ...rest] = terminalLine(label, MOST_LABEL)
  return `${first.toLowerCase()}${rest.join('')}`
}

/** Those that matter most first: a narrow screen has space for a few. */
export function keyWords(item: ShownRecord): string[] {
  const words = (isEdit: boolean): string[] =>
    keysOf(item).flatMap(({ key, action }) =>
      (action.takes === 'edit') === isEdit ? [`${key} ${labelOf(action)}`] : [],
    )
  const remember = item.view.remember === null ? [] : ['m remember']
  return [...words(false), ...remember, 'd look', ...words(true), ...(canBeSteered(item) ? ['s steer'] : [])]
}

// What has been on the screen.

/** Stands for the whole text of what is decided. Another item, or another text, is another look. */
const lookOf = (row: Row): string => row.map(({ digest = '' }) => digest).join(' ')

const MOST_WARNING = 500

/** What the list says of the selected row. Nobody decides by one key about something of which not all `needed` lines are shown. */
export function detailsOf(row: Row, { size }: Pick<WatchState, 'size'>) {
  const views = row.map(({ view }) => view)
  const { view } = row[0]
  const { level, why = null } = view.risk ?? {}
  const needed = [
    [view.label, agentOf(view), folderOf(view)].filter((word) => word !== '').join('  '),
    ...views.map(titleOf),
    ...(why === null ? [] : [`${level}: ${terminalLine(why, MOST_WARNING)}`]),
    ...new Set(views.flatMap(({ warnings }) => warnings.map((words) => terminalLine(words, MOST_WARNING)))),
  ]
  return { needed: brokenText(needed, size.columns), more: brokenText(contextLines(view), size.columns) }
}

/** Half of the screen at least shows the list. */
export const spaceBelow = (state: Pick<WatchState, 'size'>): number => Math.floor(pageOf(state) / 2) - 1

function isSeen(state: WatchState, row: Row): boolean {
  if (state.seen.has(lookOf(row))) return true
  if (row.some(({ view }) => mustBeSeen(view))) return false
  if (state.view.type === 'record') return row.length === 1
  const isCut = row.some(({ view }) => titleOf(view).includes('…'))
  return !isCut && detailsOf(row, state).needed.length <= spaceBelow(state)
}

/** What a person has to look at before they can say yes to it: after a decision it opens by itself. */
export function nextToOpen(state: WatchState): Row | null {
  const row = selectedRow(state)
  const isFree = state.view.type === 'list' && state.input === null
  return row !== null && isFree && row.some(({ view }) => mustBeSeen(view)) ? row : null
}

function act(state: WatchState, key: Key): Turn {
  const row = selectedRow(state)
  if (row === null) return note(state, 'Nothing waits.')
  const [item] = row
  if (key.text === 'd' || key.name === 'return') return { state, effect: { type: 'open', row } }
  if (key.text === 's') {
    if (!canBeSteered(item)) return note(state, 'Only an agent that works elsewhere can be told something.')
    return ask(state, { label: 'Tell the agent: ', isNeeded: true, effect: (text) => ({ type: 'steer', item, text }) })
  }
  if (key.text === 'm') return remember(state, row)
  const chosen = keysOf(item).find((one) => one.key === key.text)
  if (chosen !== undefined) return begin(state, row, chosen)
  return key.text === '' ? stay(state) : note(state, `Keys: ${keyWords(item).join(', ')}, ? help`)
}

/** Asks for what the action takes, or whether it is meant: as much as the risk is worth. */
function begin(state: WatchState, row: Row, { key, action }: { key: string; action: ViewAction }): Turn {
  const [item] = row
  const { takes, text: what, label, confirm, danger } = action
  // These show all of it first.
  if (takes === 'answer') return { state, effect: { type: 'respond', item } }
  if (takes === 'edit') return { state, effect: { type: 'edit', item } }
  if (!danger && !isSeen(state, row)) return look(state, row, key)
  const effect = (text: string): Effect => ({ type: 'answer', row, action, text, more: {} })
  if (takes === 'nothing') {
    if (danger) {
      const question = `${confirm.title} ${titleOf(item.view)}`
      return stay({ ...state, input: { type: 'yes', question, effect: effect('') } })
    }
    return riskOf(item.view) === 'critical'
      ? ask(state, typedYes(item, action, effect('')))
      : carryOut(state, effect(''))
  }
  const isNeeded = takes === 'text'
  return ask(state, { label: `${label}; ${what}${isNeeded ? '' : ' (Enter for none)'}: `, isNeeded, effect })
}

/** Opens it, to be read. */
function look(state: WatchState, row: Row, key: string): Turn {
  const next = { ...state, notice: `Read it to the last line (space), then press ${key}.` }
  return { state: next, effect: state.view.type === 'record' ? null : { type: 'open', row } }
}

/** One key too many is easily pressed, a word is not. */
const typedYes = ({ view }: ShownRecord, action: ViewAction, effect: Effect): Ask => ({
  label: `${terminalLine(action.label === 'Approve' ? titleOf(view) : action.label, MOST_LABEL)}? Critical: type yes: `,
  isNeeded: true,
  effect: (text) => (text.toLowerCase() === 'yes' ? effect : null),
})

/** What to remember with the answer, out of what the server offers: first which work, then where and how long, then yes or no. */
function remember(state: WatchState, row: Row): Turn {
  const [item] = row
  const offer = item.view.remember
  if (offer === null) return note(state, 'Nothing can be remembered with this.')
  if (!isSeen(state, row)) return look(state, row, 'm')
  const answers = keysOf(item).filter(({ action: { name } }) => name === 'reject' || (name === 'approve' && offer.yes))
  const answer = (covers: string, more: Record<string, unknown>): Menu => ({
    type: 'menu',
    title: `${covers}:`,
    choices: answers.map(({ key, action }) => ({
      key,
      label: `${labelOf(action)}, and so from now on`,
      to: { type: 'answer', row, action, text: '', more },
    })),
  })
  const scopes = (what: string, grant: object): Menu =>
    numbered(`${what}. Where and for how long?`, offer.scopes, (scope) => ({
      label: scopeWords[scope],
      to: answer(`${what}, ${scopeWords[scope]}`, { remember: scope, ...grant }),
    }))
  const matches = numbered('Remember your answer for what?', offer.matches, ({ label, match }) => ({
    label,
    to: scopes(label, { grant: { match } }),
  }))
  return stay({ ...state, input: offer.matches.length === 0 ? scopes('The same call', {}) : matches })
}

const numbered = <T>(title: string, all: readonly T[], choice: (one: T) => { label: string; to: Input }): Menu => ({
  type: 'menu',
  title,
  choices: all.slice(0, 9).map((one, i) => ({ key: `${i + 1}`, ...choice(one) })),
})

type Ask = Omit<Extract<Input, { type: 'text' }>, 'type' | 'text'>

const ask = (state: WatchState, input: Ask): Turn => stay({ ...state, input: { ...input, type: 'text', text: '' } })

/** Back to the list: what is answered has nothing left to read. */
const carryOut = (state: WatchState, effect: Effect): Turn => ({
  state: { ...state, input: null, view: { type: 'list' } },
  effect,
})

const LONGEST_TEXT = 4_000

function typeInto(state: WatchState, input: Input, key: Key): Turn {
  const left = (why = ''): Turn => note({ ...state, input: null }, `${why}Left as it is.`)
  if (key.name === 'escape') return left()
  if (input.type === 'yes') return key.text === 'y' || key.text === 'Y' ? carryOut(state, input.effect) : left()
  if (input.type === 'menu') {
    const to = input.choices.find((one) => one.key === key.text)?.to
    if (to === undefined) return left()
    return 'choices' in to ? stay({ ...state, input: to }) : carryOut(state, to as Effect)
  }
  if (key.name === 'return') {
    const text = input.text.trim()
    if (text === '' && input.isNeeded) return left('Nothing was typed. ')
    const effect = input.effect(text)
    return effect === null ? left() : carryOut(state, effect)
  }
  if (key.name === 'backspace')
    return stay({ ...state, input: { ...input, text: Array.from(input.text).slice(0, -1).join('') } })
  if (key.ctrl && key.name === 'u') return stay({ ...state, input: { ...input, text: '' } })
  return stay({ ...state, input: { ...input, text: (input.text + key.text).slice(0, LONGEST_TEXT) } })
}
