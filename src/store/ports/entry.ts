import type { Entry, EntryKind } from '../../domain/session/entry.ts'

export interface NewEntry {
  kind: EntryKind
  data: string
}

/** An entry as it is stored. A compacted entry has `spans`: the seq and the length (in UTF-16 units) of each delta in it. */
export interface StoredEntry extends Entry {
  spans?: readonly (readonly [seq: number, length: number])[]
}
