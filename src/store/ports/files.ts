// Records of the files that users attached. The bytes are kept elsewhere, by hash.

import type { FileRecord, UnsentFiles } from '../../domain/session/file.ts'

export interface FileReads {
  get(id: string): Promise<FileRecord | null>
  /** In the order of their upload. */
  ofSession(sessionId: string): Promise<FileRecord[]>
  /** Files that this owner has uploaded but not sent yet. */
  unsent(owner: string): Promise<UnsentFiles>
  /** Those of the hashes that belong to a file. */
  knownHashes(hashes: readonly string[]): Promise<string[]>
}

/** Synced. Refused if the id is taken (`conflict`), or if the file names a session that its owner does not have (`session_not_found`). */
export interface AddFile {
  type: 'add_file'
  file: FileRecord
}
