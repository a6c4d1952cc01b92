import type { Extract, FileRecord } from '../domain/session/file.ts'

/** What the engine needs of attached files. It checks itself which files a session may see. */
export interface Files {
  /**
   * The text of a file. Throws `file_unreadable` with a sentence for people. Reading the same bytes again is cheap. Sections that
   * an earlier call left unread are read only if `unread` names them.
   */
  read(
    file: FileRecord,
    signal: AbortSignal,
    onProgress?: (done: number, total: number) => void,
    unread?: 'all' | readonly string[],
  ): Promise<Extract>
  bytes(file: FileRecord): Promise<Buffer>
  /** Makes a JPEG of at most `maxBytes` from a picture. Throws `file_unreadable`. Without it, large pictures become text. */
  shrink?(file: FileRecord, maxBytes: number, signal: AbortSignal): Promise<Buffer>
  /** Removes the files that no session has any more. Called after a deletion, and from time to time. */
  sweep?(): Promise<void>
}
