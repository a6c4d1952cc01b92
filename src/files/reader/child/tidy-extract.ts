import type { Extract } from '../../../domain/file.ts'
import { limitExtract } from '../../formats/extract-limit.ts'

const MAX_SECTIONS = 5_000
const MAX_NOTES = 50
/** Of a label or a note: both can hold names from the file. */
const MAX_LINE = 300

/** What every reader's result is held to, whatever the file said: bounded, and nothing in it that a store or a terminal stumbles over. */
export function tidyExtract(extract: Extract, characters: number): Extract {
  const sections = extract.sections
    .slice(0, MAX_SECTIONS)
    .map(({ label, text }) => ({ label: oneLine(label), text: clean(text) }))
  const notes = extract.notes.slice(0, MAX_NOTES).map(oneLine)
  const left = extract.sections.length - sections.length
  if (left > 0) notes.push(`The file has more parts than are read: the last ${left.toLocaleString('en')} are left out.`)
  const unread = extract.unread?.slice(0, MAX_SECTIONS).map(oneLine)
  return limitExtract({ sections, notes, ...(unread && { unread }) }, characters)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
const clean = (text: string): string => text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '').toWellFormed()

const oneLine = (text: string): string => clean(text.slice(0, MAX_LINE)).replace(/\s+/g, ' ').trim()
