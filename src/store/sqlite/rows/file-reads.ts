import type { DatabaseSync } from 'node:sqlite'
import type { FileReads } from '../../ports/files.ts'
import { FILE_COLUMNS, toFile } from './rows.ts'

export function createFileReads(db: DatabaseSync): FileReads {
  const fileById = db.prepare(`SELECT ${FILE_COLUMNS} WHERE files.id = ?`)
  const ofSession = db.prepare(
    `SELECT ${FILE_COLUMNS} WHERE files.sid = (SELECT sid FROM sessions WHERE id = ?) ORDER BY files.fid`,
  )
  const unsent = db.prepare(
    `SELECT total(n) AS files, total(bytes) AS bytes, min(oldest) AS oldest FROM (
       SELECT count(*) AS n, max(bytes) AS bytes, min(created_at) AS oldest FROM files
       WHERE owner = ? AND sid IS NULL GROUP BY sha256)`,
  )
  const known = db.prepare('SELECT DISTINCT sha256 FROM files WHERE sha256 IN (SELECT value FROM json_each(?))')

  return {
    async get(id) {
      const row = fileById.get(id)
      return row === undefined ? null : toFile(row)
    },
    async ofSession(sessionId) {
      return ofSession.all(sessionId).map(toFile)
    },
    async unsent(owner) {
      const { files = 0, bytes = 0, oldest = null } = unsent.get(owner) ?? {}
      return { files: Number(files), bytes: Number(bytes), oldest: oldest === null ? null : Number(oldest) }
    },
    async knownHashes(hashes) {
      return hashes.length === 0 ? [] : known.all(JSON.stringify(hashes)).map((row) => String(row.sha256))
    },
  }
}
