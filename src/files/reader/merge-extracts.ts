import type { Extract } from '../../domain/file.ts'
import { limitExtract } from '../formats/extract-limit.ts'

/** What was read first, with what was read of its missing sections. What is in neither stays missing. */
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
