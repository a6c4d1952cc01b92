import type { Command, Result } from './command.ts'
import type { StoredEntry } from './entry.ts'

/** What the log needs of a store: it writes commands, and reads the entries that they left. */
export interface Journal {
  /**
   * Applies the commands in order, in one transaction. A command that is refused fails alone. When this resolves, the
   * commands survive the death of the process; when `synced` resolves, those of the synced class also survive a power cut.
   * Throws only when nothing was applied (`storage_full`, `storage_failed`).
   */
  commit(commands: readonly Command[]): Promise<Committed>
  /**
   * At most `limit` entries after `seq`, in order. A compacted one among them may have begun before `seq`. With `maxChars` the
   * list ends once it has that many characters of data, so that a reader that lags does not fill the memory.
   */
  entries(sessionId: string, seq: number, limit: number, maxChars?: number): Promise<StoredEntry[]>
  /** Seq of the session's last entry, 0 when it has none. */
  head(sessionId: string): Promise<number>
}

export interface Committed {
  /** One per command, in order. */
  results: Result[]
  /**
   * Resolves when all commands of the synced class in this call are on disk; already resolved when there was none.
   * Never rejects: a disk that fails to sync ends the process.
   */
  synced: Promise<void>
}
