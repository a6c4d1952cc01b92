import { fileNotFound } from '../domain/errors.ts'
import type { FileRecord } from '../domain/file.ts'

/**
 * Throws `file_not_found` unless all are the owner's and belong to no session or to this one (null: a session that is about to
 * be made). Somebody else's file and one that is not there look the same.
 */
export function refuseFiles(
  ids: readonly string[],
  find: (id: string) => FileRecord | null,
  owner: string,
  sessionId: string | null,
): void {
  for (const id of ids) {
    const file = find(id)
    const isFree = file?.sessionId === null || (sessionId !== null && file?.sessionId === sessionId)
    if (file?.owner !== owner || !isFree) throw fileNotFound(id)
  }
}
