// Text of other people and programs for a Slack message: every character is visible, the length has a limit, and a cut says what it left out.

import { hidesCharacters, visibleCode, visibleProse } from '../../../domain/text/visible-text.ts'
import { escaped } from './blocks.ts'

export interface ShownText {
  text: string
  isCut: boolean
}

/** Names of agents, tools, people and files. */
const MOST_NAME = 120

/** One line, as it was written. */
export const shownLine = (text: string, most: number): ShownText =>
  fitted(text, most, (kept) => visibleCode([kept]).join(''))

/**
 * Prose, or text of a record in which the hidden characters are marked already. Those marks stay as they are; a second look only finds
 * what the first one missed.
 */
export const shownProse = (text: string, most: number): ShownText => fitted(text, most, visibleProse)

/** Prose that stands among our own words. It stays one line, so that it cannot look like a line of ours. */
export const shownNote = (text: string, most: number): string =>
  shownProse(text.replaceAll(/\s*\n\s*/g, ' ⏎ '), most).text

/**
 * The whole text for a file. Records keep text with its hidden characters marked, so most need no second look, which takes long for many
 * emoji.
 */
export const wholeText = (text: string): string => (hidesCharacters(text) ? visibleProse(text) : text).toWellFormed()

export const shownName = (text: string): string => shownLine(text, MOST_NAME).text

/** Letters of another name look the same in a notification, and Slack makes nothing of them. */
const LOOKALIKES: Readonly<Record<string, string>> = { ':': '∶', '*': '∗', '~': '∼', '`': 'ˋ', '@': '＠' }

/** Slack parses the notification: no mention, link, emoji or bold comes out of what others wrote. */
const unparsed = (text: string): string => escaped(text.replace(/[:*~`@]/g, (char) => LOOKALIKES[char] ?? char))

export const notifiedName = (text: string): string => unparsed(shownName(text))

/** Prose for the notification. Its lines stay lines. */
export const notifiedProse = (text: string, most: number): string => unparsed(shownProse(text, most).text)

const MOST_NOTIFIED = 200

/** What somebody wrote, as one line of the notification. */
export const notifiedNote = (text: string): string => unparsed(shownNote(text, MOST_NOTIFIED))

/** The text of a message: notifications and screen readers tell it, so each sentence has a line of its own. Empty ones are left out. */
export const sentences = (...all: readonly string[]): string => all.filter((one) => one !== '').join('\n')

function fitted(text: string, most: number, visible: (kept: string) => string): ShownText {
  const looked = withoutHalf(text.slice(0, most))
  const shown = visible(looked).toWellFormed()
  const end = endWithin(shown, most)
  const left = shown.length - end + text.length - looked.length
  if (left === 0) return { text: shown, isCut: false }
  const note = `… ${left.toLocaleString('en')} more character${left === 1 ? '' : 's'}`
  return { text: `${withoutHalf(shown.slice(0, end))}${note}`, isCut: true }
}

/** How much of it fits. */
function endWithin(text: string, most: number): number {
  let size = 0
  for (let i = 0; i < text.length; i += 1) {
    size += sizeOf(text[i] ?? '')
    if (size > most) return i
  }
  return text.length
}

/** Slack does not say whether it counts characters, or what they become in HTML and JSON. So the longest of these counts. */
export function sizeOf(text: string): number {
  let size = text.length
  for (const char of text) size += EXTRA[char] ?? 0
  return size
}

const EXTRA: Readonly<Record<string, number>> = { '&': 4, '<': 4, '>': 4, '"': 1, '\\': 1, '\n': 1, '\t': 1 }

const withoutHalf = (text: string): string => (/[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text)
