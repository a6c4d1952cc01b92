import type { DatabaseSync } from 'node:sqlite'
import { ServerError } from '../../domain/errors.ts'
import type { FileRecord } from '../../domain/file.ts'
import { toFile } from './rows.ts'

export interface FileTable {
  find(fileId: string): FileRecord | null
  /** Throws `conflict` when there is one of that id. */
  insert(file: FileRecord, sid: number | null): void
  /** Those that belong to no session belong to this one from now on. */
  attach(fileIds: readonly string[], sid: number): void
  removeOfSession(sid: number): void
  /** Those that came before and were never sent. */
  removeUnsent(before: number): void
}

/** For `toFile`: a file's row with its session's id, if it has one. */
export const FILE_COLUMNS = 'files.*, sessions.id AS session_id FROM files LEFT JOIN sessions USING (sid)'

export function createFileTable(db: DatabaseSync): FileTable {
  const find = db.prepare(`SELECT ${FILE_COLUMNS} WHERE files.id = ?`)
  const insert = db.prepare(
    'INSERT INTO files (id, sid, owner, name, mime_type, bytes, sha256, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const attach = db.prepare('UPDATE files SET sid = ? WHERE id = ? AND sid IS NULL')
  const removeOfSession = db.prepare('DELETE FROM files WHERE sid = ?')
  const removeUnsent = db.prepare('DELETE FROM files WHERE sid IS NULL AND created_at < ?')

  return {
    find(fileId) {
      const row = find.get(fileId)
      return row === undefined ? null : toFile(row)
    },
    insert({ id, owner, name, mimeType, bytes, sha256, createdAt }, sid) {
      const { changes } = insert.run(id, sid, owner, name, mimeType, bytes, sha256, createdAt)
      if (Number(changes) === 0) throw new ServerError('conflict', `There is a file ${id} already.`)
    },
    attach(fileIds, sid) {
      for (const id of fileIds) attach.run(sid, id)
    },
    removeOfSession: (sid) => void removeOfSession.run(sid),
    removeUnsent: (before) => void removeUnsent.run(before),
  }
}
