// What an agent writes about its own work, as people see it: every character visible, of limited length, and never cut in silence.

import { visibleProse, visibleText } from '../../domain/text/visible-text.ts'

const MOST_TITLE = 200
const MOST_DESCRIPTION = 4_000
/** Longer texts in a log or a record are cut: nobody reads them there. */
const MOST_LOGGED = 10_000
/** Of one value with everything in it. */
const MOST_VALUES = 1_000
const MOST_CHARS = 50_000

export const shownTitle = (text: string): string => shown(text, MOST_TITLE, visibleText)

export const shownDescription = (text: string): string => shown(text, MOST_DESCRIPTION, visibleProse)

/** One line of a command, with all its characters visible. */
export const shownCommand = (text: string): string => shown(text, MOST_DESCRIPTION, visibleText)

/** The same value with long texts and long lists cut, for a log that shows what happened and not every byte of it. */
export function shortened(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return shortenEntries(value, { values: MOST_VALUES, chars: MOST_CHARS })
}

interface Left {
  values: number
  chars: number
}

const shortenEntries = (value: object, left: Left): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value)
      .slice(0, left.values + 1)
      .map(([name, one]) => [cut(name, MOST_TITLE), shorten(one, left)]),
  )

function shorten(value: unknown, left: Left): unknown {
  left.values -= 1
  if (left.values < 0) return '…'
  if (typeof value === 'string') {
    const text = cut(value, Math.min(MOST_LOGGED, left.chars))
    left.chars = Math.max(left.chars - text.length, 100)
    return text
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.slice(0, left.values + 1).map((one) => shorten(one, left))
  return shortenEntries(value, left)
}

/** Marks make a text longer. The note counts the characters that were written. */
function shown(text: string, most: number, visible: (text: string) => string): string {
  const marked = visible(begin(text, most))
  return text.length <= most && marked.length <= most ? marked : withNote(marked, text, most)
}

/** Says how much it leaves out. */
const cut = (text: string, most: number): string => (text.length <= most ? text : withNote(text, text, most))

function withNote(kept: string, whole: string, most: number): string {
  const note = ` … (${whole.length} characters in all)`
  return `${begin(kept, Math.max(most - note.length, 0))}${note}`
}

/** Never cuts a character in half. */
function begin(text: string, most: number): string {
  const kept = text.slice(0, most)
  return kept.length < text.length && /[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept
}
