import type { Extract, FileRecord } from '../domain/file.ts'

/** What the engine needs of the files that people attach; what it may see of them is its own to check. */
export interface Files {
  /**
   * The words in it. Throws `file_unreadable` with a sentence for people. Reading the same bytes again is cheap; what an earlier
   * time had to leave `unread` is read only where `goOn` names it.
   */
  read(
    file: FileRecord,
    signal: AbortSignal,
    onProgress?: (done: number, total: number) => void,
    goOn?: 'all' | readonly string[],
  ): Promise<Extract>
  bytes(file: FileRecord): Promise<Buffer>
  /** A picture as a JPEG of at most so many bytes. Throws `file_unreadable`. Left out: large pictures become text. */
  shrink?(file: FileRecord, maxBytes: number, signal: AbortSignal): Promise<Buffer>
  /** Removes what no session has any more: after a deletion, and now and then. */
  sweep?(): Promise<void>
}
