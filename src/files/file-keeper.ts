import type { FileRecord } from '../domain/session/file.ts'

/** Keeps attached files: the bytes under their hash, the records in the store. Protocols add files, the engine reads them. */
export interface FileKeeper {
  /**
   * Streams a file to disk and hashes it on the way. A file without a name is named after its type. Throws `file_too_large` as soon
   * as that is known (without reading on), `unsupported_media_type` when the content is not of an accepted type or not of the stated
   * type, `file_unreadable` when it is empty, `too_many_uploads` when its owner has too many files that were not sent in a message.
   */
  add(file: IncomingFile): Promise<FileRecord>
  /** Throws `file_not_found`, also for a file of another owner. */
  find(owner: string, id: string): Promise<FileRecord>
  /** The bytes as a file on this machine. Dispose of it after use: until then the file stays. It may not exist if the bytes are lost. */
  open(file: FileRecord): Promise<{ readonly path: string } & Disposable>
  /** Removes bytes that no record names any more. Called after deletions and from time to time. */
  sweep(): Promise<void>
}

export interface IncomingFile {
  owner: string
  /** As the client sent it. Null: no name was sent. */
  name: string | null
  /** As the client stated it. Null: the content alone decides. */
  mimeType: string | null
  content: AsyncIterable<Uint8Array>
  maxBytes: number
  /**
   * What happens to a file that cannot be read. `refuse` is the default. `keep`: the content alone decides, and a file of no readable
   * type is kept as `UNREADABLE`.
   */
  unreadable?: 'refuse' | 'keep'
}
