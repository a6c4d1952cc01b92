import type { Entry, EntryKind } from '../../domain/session/entry.ts'
import type { Command, Result } from './command.ts'

/** What the log needs from a store: writing commands, and reading entries. */
export interface Journal {
  /**
   * Applies the commands in order, in one transaction. A refused command does not affect the others. Once this resolves, the
   * commands survive a crash of the process. Once `synced` resolves, those of the synced class also survive a power cut.
   * Throws only if nothing was applied (`storage_full`, `storage_failed`).
   */
  commit(commands: readonly Command[]): Promise<Committed>
  /**
   * At most `limit` entries after `seq`, in order. A compacted entry may begin before `seq`. With `maxChars` the list ends as
   * soon as it has that many characters of data, so a slow reader does not fill the memory.
   */
  entries(sessionId: string, seq: number, limit: number, maxChars?: number): Promise<StoredEntry[]>
  /**
   * At most `limit` entries before `seq`, the newest first. With `maxChars` the list ends as soon as it has that many characters.
   */
  entriesBefore(sessionId: string, seq: number, limit: number, maxChars?: number): Promise<StoredEntry[]>
  /** Seq of the session's last entry, 0 if it has none. */
  head(sessionId: string): Promise<number>
  /**
   * What is new in many sessions: for each, the entries after a seq, in order. Null says that there is more than fits here, which
   * `entries` reads. Sessions that were deleted, or never existed, are left out.
   */
  news(after: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, readonly StoredEntry[] | null>>
}

export interface Committed {
  /** One per command, in order. */
  results: Result[]
  /**
   * Resolves once all commands of the synced class in this call are on disk, or at once if there are none.
   * Never rejects, because a failed sync ends the process.
   */
  synced: Promise<void>
}

export interface NewEntry {
  kind: EntryKind
  data: string
  /** A piece of text: `data` is `text` with the frame around it. Pieces that came together share one frame, which is stored once. */
  frame?: TextFrame
  /** As a JSON string. */
  text?: string
}

/** What stands before and after the text in an event of text. */
export interface TextFrame {
  readonly start: string
  readonly end: string
}

/** An entry as it is stored. A compacted entry has `spans`: the seq and the length (in UTF-16 units) of each delta in it. */
export interface StoredEntry extends Entry {
  spans?: readonly (readonly [seq: number, length: number])[]
}
