import type { Extract, FileType } from '../domain/session/file.ts'

/** Reads the text of files, in child processes and within limits. What the model sees of the text is decided in the engine. */
export interface FileReader {
  /**
   * Throws `file_unreadable` with a sentence for people that does not name the file: it is damaged, locked with a password, too
   * large when unpacked, or takes too long. A hostile file can use at most the limits of one child process. Sections that there
   * was no time for are named in `unread` of the extract. Call it again with `unread` to read those.
   */
  read(file: ReadableFile, signal: AbortSignal, onProgress?: Progress, unread?: UnreadSections): Promise<Extract>
  /** Makes an upright JPEG of at most `maxBytes` from a picture. Throws as `read` does. */
  shrink(file: ReadableFile, maxBytes: number, signal: AbortSignal): Promise<Buffer>
  /** Removes the work folders of children whose server was killed. */
  sweep(): Promise<void>
  close(): Promise<void>
}

export type Progress = (done: number, total: number) => void

/** All unread sections, or the labels of some. */
export type UnreadSections = 'all' | readonly string[]

export interface ReadableFile {
  /** Absolute path of the bytes. */
  path: string
  mimeType: FileType
  bytes: number
  /** The cache finds results by this hash. */
  sha256: string
}
