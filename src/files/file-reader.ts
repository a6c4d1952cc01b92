import type { Extract, FileType } from '../domain/file.ts'

/** Reads the words out of files, off the event loop and within limits. One job each: what becomes of the words is the engine's. */
export interface FileReader {
  /**
   * Throws `file_unreadable` with a sentence for people that does not name the file: damaged, locked with a password, too
   * large when unpacked, took too long. Hostile content costs at most the limits of one child process. What there was no time for
   * is `unread` in the extract; `goOn` reads it, or more of it, when the file was read before.
   */
  read(
    file: ReadableFile,
    signal: AbortSignal,
    onProgress?: (done: number, total: number) => void,
    goOn?: GoOn,
  ): Promise<Extract>
  /** A picture as a JPEG of at most so many bytes, upright. Throws as `read` does. */
  shrink(file: ReadableFile, maxBytes: number, signal: AbortSignal): Promise<Buffer>
  /** Removes what the children of a server that was killed have left behind: files that were handed to them. */
  sweep(): Promise<void>
  close(): Promise<void>
}

/** Labels of sections. */
export type GoOn = 'all' | readonly string[]

export interface ReadableFile {
  /** Absolute path of the bytes. */
  path: string
  mimeType: FileType
  bytes: number
  /** Results are cached by it. */
  sha256: string
}
