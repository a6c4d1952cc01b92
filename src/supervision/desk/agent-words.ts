// What an agent writes about its own work, as people see it: every character visible, of limited length, and never cut in silence.

import { isRecord } from '../../domain/is-record.ts'
import { visibleProse, visibleText } from '../../domain/visible-text.ts'

const MOST_TITLE = 200
const MOST_DESCRIPTION = 4_000
/** Longer texts in a log or a record are cut: nobody reads them there. */
const MOST_LOGGED = 10_000
const MOST_DEPTH = 20

/** One line. */
export const shownTitle = (text: string): string => cut(visibleText(cut(text, MOST_TITLE)), MOST_TITLE)

export const shownDescription = (text: string): string =>
  cut(visibleProse(cut(text, MOST_DESCRIPTION)), MOST_DESCRIPTION)

/** One line of a command, with all its characters visible. */
export const shownCommand = (text: string): string => cut(visibleText(cut(text, MOST_DESCRIPTION)), MOST_DESCRIPTION)

/** The same value with long texts cut, for a log that shows what happened and not every byte of it. */
export function shortened<T>(value: T, depth = 0): T {
  return shorten(value, depth) as T
}

function shorten(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cut(value, MOST_LOGGED)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MOST_DEPTH) return `… (more than ${MOST_DEPTH} levels deep)`
  if (Array.isArray(value)) return value.map((one) => shorten(one, depth + 1))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shorten(one, depth + 1)]))
}

/** Says how much it leaves out, and never cuts a character in half. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const note = ` … (${text.length} characters in all)`
  const kept = text.slice(0, Math.max(most - note.length, 0))
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}${note}`
}
