// What the live inbox shows and what each key does, without a terminal: `watch.ts` carries out the effects.

import { mustBeSeen, titleOf } from '../../../show-record.ts'
import type { ShownRecord, ViewAction } from '../records.ts'
import { breakLine, type ScreenLine } from './screen-line.ts'

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
  size: { columns: number; rows: number }
}

/** A whole record, page by page. */
interface OpenRecord {
  type: 'record'
  id: string
  /** What an approval is about; null for other records. */
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
  | { type: 'text'; label: string; text: string; isNeeded: boolean; effect: (text: string) => Effect }
  | { type: 'yes'; question: string; effect: Effect }

export type Effect =
  | { type: 'quit'; interrupted: boolean }
  | { type: 'open'; item: ShownRecord }
  | { type: 'answer'; item: ShownRecord; action: ViewAction; text: string }
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

export const firstState = (size: WatchState['size']): WatchState => ({
  items: [],
  isLoaded: false,
  selected: null,
  view: { type: 'list' },
  input: null,
  notice: '',
  seen: new Set(),
  isAway: false,
  size,
})

const stay = (state: WatchState): Turn => ({ state, effect: null })
const note = (state: WatchState, notice: string): Turn => stay({ ...state, notice })

export const selectedItem = ({ items, selected }: WatchState): ShownRecord | null =>
  items.find(({ view }) => view.id === selected) ?? null

/** The lines of a record that fit: everything but the heading and the last line. */
export const pageOf = ({ size }: Pick<WatchState, 'size'>): number => Math.max(1, size.rows - 2)

const idOf = ({ view }: ShownRecord): string => view.id

const GONE = 'It waits no longer: somebody answered, or its time was over.'

/** A new list from the server. The selection stays where it was, or moves to what took its place. */
export function takeItems(state: WatchState, items: readonly ShownRecord[]): { state: WatchState; isNew: boolean } {
  const known = new Set(state.items.map(idOf))
  const at = Math.max(
    0,
    state.items.findIndex((item) => idOf(item) === state.selected),
  )
  const isKept = items.some((item) => idOf(item) === state.selected)
  const selected = isKept ? state.selected : (items[Math.min(at, items.length - 1)]?.view.id ?? null)
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
export function openRecord(state: WatchState, item: ShownRecord, source: readonly string[]): WatchState {
  if (state.selected !== item.view.id) return { ...state, notice: GONE }
  const view: OpenRecord = {
    type: 'record',
    id: item.view.id,
    digest: item.digest ?? null,
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
  const at = state.items.findIndex((item) => idOf(item) === state.selected)
  const next = state.items[Math.min(Math.max(at + step, 0), state.items.length - 1)]
  return { ...state, selected: next?.view.id ?? null }
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
const SAME_EVERYWHERE = ['d', 'g', 'j', 'k', 'q', 's']

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

export const keyWords = (item: ShownRecord): string[] =>
  keysOf(item).map(({ key, action }) => `${key} ${action.label.toLowerCase()}`)

function act(state: WatchState, key: Key): Turn {
  const item = selectedItem(state)
  if (item === null) return note(state, 'Nothing waits.')
  if (key.text === 'd' || key.name === 'return') return { state, effect: { type: 'open', item } }
  if (key.text === 's') {
    if (!canBeSteered(item)) return note(state, 'Only an agent that works elsewhere can be told something.')
    return ask(state, { label: 'Tell the agent: ', isNeeded: true, effect: (text) => ({ type: 'steer', item, text }) })
  }
  const chosen = keysOf(item).find((one) => one.key === key.text)
  if (chosen !== undefined) return begin(state, item, chosen)
  return key.text === '' ? stay(state) : note(state, `Keys: ${keyWords(item).join(', ')}, d the whole text, ? help`)
}

/** Asks for what the action takes, or whether it is meant. */
function begin(state: WatchState, item: ShownRecord, { key, action }: { key: string; action: ViewAction }): Turn {
  const { takes, text: what, label, confirm, danger } = action
  // These show all of it first.
  if (takes === 'answer') return { state, effect: { type: 'respond', item } }
  if (takes === 'edit') return { state, effect: { type: 'edit', item } }
  if (!danger && mustBeSeen(item.view) && !state.seen.has(item.digest ?? '')) {
    const notice = `Its risk is ${item.view.risk?.level}: read it page by page to the last line (space), then press ${key}.`
    if (state.view.type === 'record') return note(state, notice)
    return { state: { ...state, notice }, effect: { type: 'open', item } }
  }
  const effect = (text: string): Effect => ({ type: 'answer', item, action, text })
  if (takes === 'nothing') {
    const question = `${confirm.title} ${titleOf(item.view)}`
    return stay({ ...state, input: { type: 'yes', question, effect: effect('') } })
  }
  const isNeeded = takes === 'text'
  return ask(state, { label: `${label}; ${what}${isNeeded ? '' : ' (Enter for none)'}: `, isNeeded, effect })
}

const ask = (state: WatchState, input: Omit<Extract<Input, { type: 'text' }>, 'type' | 'text'>): Turn =>
  stay({ ...state, input: { ...input, type: 'text', text: '' } })

/** Back to the list: what is answered has nothing left to read. */
const carryOut = (state: WatchState, effect: Effect): Turn => ({
  state: { ...state, input: null, view: { type: 'list' } },
  effect,
})

const LONGEST_TEXT = 4_000

function typeInto(state: WatchState, input: Input, key: Key): Turn {
  if (key.name === 'escape') return note({ ...state, input: null }, 'Left as it is.')
  if (input.type === 'yes') {
    if (key.text === 'y' || key.text === 'Y') return carryOut(state, input.effect)
    return note({ ...state, input: null }, 'Left as it is.')
  }
  if (key.name === 'return') {
    const text = input.text.trim()
    if (text === '' && input.isNeeded) return note({ ...state, input: null }, 'Nothing was typed. Left as it is.')
    return carryOut(state, input.effect(text))
  }
  if (key.name === 'backspace')
    return stay({ ...state, input: { ...input, text: Array.from(input.text).slice(0, -1).join('') } })
  if (key.ctrl && key.name === 'u') return stay({ ...state, input: { ...input, text: '' } })
  return stay({ ...state, input: { ...input, text: (input.text + key.text).slice(0, LONGEST_TEXT) } })
}
