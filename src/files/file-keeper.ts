import type { FileRecord } from '../domain/file.ts'

/** Keeps attached files: bytes on disk by their hash, records in the store. The doors bring them, the engine reads them. */
export interface FileKeeper {
  /**
   * Takes a file in, streamed to disk while it is hashed. Throws `file_too_large` as soon as that is known (without reading on),
   * `unsupported_media_type` when the content is none of our types or not what it is said to be, `file_unreadable` when it is empty,
   * `too_many_uploads` when its owner has too much already that was not sent. One without a name is called after its type.
   */
  add(file: IncomingFile): Promise<FileRecord>
  /** Throws `file_not_found`, also for somebody else's. */
  find(owner: string, id: string): Promise<FileRecord>
  /** Absolute path of the bytes. */
  pathOf(file: FileRecord): string
  /** Removes bytes that no record names any more; after deletions and now and then. */
  sweep(): Promise<void>
}

export interface IncomingFile {
  owner: string
  /** As the client wrote it. Null: none was given. */
  name: string | null
  /** As the client says. Null: only the content is asked. */
  mimeType: string | null
  content: AsyncIterable<Uint8Array>
  maxBytes: number
}
