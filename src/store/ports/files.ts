// The records of files that users attached. Their bytes are kept elsewhere, by hash.

import type { FileRecord, UnsentFiles } from '../../domain/file.ts'

export interface FileReads {
  get(id: string): Promise<FileRecord | null>
  /** In the order in which they came. */
  ofSession(sessionId: string): Promise<FileRecord[]>
  /** What this owner has uploaded and not sent yet. */
  unsent(owner: string): Promise<UnsentFiles>
  /** Which of these hashes belong to a file. */
  knownHashes(hashes: readonly string[]): Promise<string[]>
}

/** Synced. Refused (`conflict`) when the id is taken, and (`session_not_found`) when its owner does not have the session it names. */
export interface AddFile {
  type: 'add_file'
  file: FileRecord
}
