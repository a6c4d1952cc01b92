// Footnotes, endnotes and comments. They are numbered in the order in which the text refers to them, and follow it in that order.

import type { TextBlock } from '../../markdown.ts'

export type NoteKind = 'footnote' | 'endnote' | 'comment'

export interface DocxNotes {
  /** The mark to show in the text. */
  mark(kind: NoteKind, id: string): string
  /** Whether the text refers to the note. */
  wants(kind: NoteKind, id: string): boolean
  write(kind: NoteKind, id: string, text: string): void
  blocks(): TextBlock[]
}

export function createDocxNotes(): DocxNotes {
  const notes = new Map<string, { number: number; text: string }>()
  const keyOf = (kind: NoteKind, id: string) => `${kind} ${id}`

  return {
    mark(kind, id) {
      const key = keyOf(kind, id)
      const note = notes.get(key) ?? { number: notes.size + 1, text: '' }
      notes.set(key, note)
      return `[^${note.number}]`
    },
    wants: (kind, id) => notes.has(keyOf(kind, id)),
    write(kind, id, text) {
      const note = notes.get(keyOf(kind, id))
      if (note !== undefined && note.text === '') note.text = text
    },
    blocks: () =>
      [...notes.values()].flatMap(({ number, text }) =>
        text.trim() === '' ? [] : { text: `[^${number}]: ${text.trim().replace(/\n\s*/g, '\n    ')}`, item: true },
      ),
  }
}
