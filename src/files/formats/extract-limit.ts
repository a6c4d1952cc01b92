import type { Extract, ExtractSection } from '../../domain/file.ts'

/** Far above any context window. It bounds what a file that repeats one long text by reference can ask for. */
export const extractCharacters = 4_000_000

/**
 * Leaves out what lies beyond the limit, at a line's end, and says so. `held`: what the file holds, where a reader did not keep
 * all of it.
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
  const note = `The file holds ${total.toLocaleString('en')} characters; what comes after the first ${characters.toLocaleString('en')} is left out.`
  return { ...extract, sections, notes: [...extract.notes, note] }
}
