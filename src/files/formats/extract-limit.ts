// What every extract is held to, whatever the file says: a limit of characters, sections and notes, and only characters that
// stores and terminals can handle.

import type { Extract, ExtractSection } from '../../domain/session/file.ts'

/** Far above any context window. A small file that repeats one long text by reference could otherwise give any amount of text. */
export const extractCharacters = 4_000_000

const MAX_SECTIONS = 5_000
const MAX_NOTES = 50
/** Longest label or note. Both can contain names from the file. */
const MAX_LINE = 300

/**
 * Cuts what exceeds the limit, at the end of a line, and adds a note that says so. `held`: how many characters the file has, if
 * the reader did not keep all of them.
 */
export function limitExtract(extract: Extract, characters: number = extractCharacters, held = 0): Extract {
  const kept = extract.sections.reduce((sum, section) => sum + section.text.length, 0)
  const total = Math.max(kept, held)
  if (total <= characters) return extract
  const sections: ExtractSection[] = []
  let left = characters
  for (const section of extract.sections) {
    if (section.text.length > left) {
      const cut = section.text.lastIndexOf('\n', left)
      sections.push({ label: section.label, text: section.text.slice(0, cut > 0 ? cut : left) })
      break
    }
    sections.push(section)
    left -= section.text.length
  }
  const note = `The file has ${total.toLocaleString('en')} characters; everything after the first ${characters.toLocaleString('en')} is left out.`
  return { ...extract, sections, notes: [...extract.notes, note] }
}

/** Makes the result of a format's reader safe to store and to show. */
export function tidyExtract(extract: Extract, characters: number): Extract {
  const sections = extract.sections
    .slice(0, MAX_SECTIONS)
    .map(({ label, text }) => ({ label: oneLine(label), text: clean(text) }))
  const notes = extract.notes.slice(0, MAX_NOTES).map(oneLine)
  const left = extract.sections.length - sections.length
  if (left > 0) notes.push(`The file has too many parts: the last ${left.toLocaleString('en')} are left out.`)
  const unread = extract.unread?.slice(0, MAX_SECTIONS).map(oneLine)
  return limitExtract({ sections, notes, ...(unread && { unread }) }, characters)
}

/** Adds sections that were read later. A section that neither extract has read stays in `unread`. */
export function mergeExtracts(first: Extract, more: Extract, characters: number): Extract {
  const stillUnread = new Set(more.unread)
  const added = new Map(
    more.sections.flatMap(({ label, text }) => (stillUnread.has(label) ? [] : [[label, text] as const])),
  )
  const unread = first.unread?.filter((label) => !added.has(label)) ?? []
  return limitExtract(
    {
      sections: first.sections.map(({ label, text }) => ({ label, text: added.get(label) ?? text })),
      notes: [...new Set([...first.notes, ...more.notes])],
      ...(unread.length > 0 && { unread }),
    },
    characters,
  )
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed.
const clean = (text: string): string => text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '').toWellFormed()

const oneLine = (text: string): string => clean(text.slice(0, MAX_LINE)).replace(/\s+/g, ' ').trim()
