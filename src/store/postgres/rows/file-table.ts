import type { FileRecord } from '../../../domain/session/file.ts'
import type { FileReads } from '../../ports/files.ts'
import type { Sql, Statement } from '../sql.ts'

const FILE_COLUMNS = 'id, owner, session, name, mime_type, bytes, sha256, created_at'
export type FileRow = [
  id: string,
  owner: string,
  session: string | null,
  name: string,
  mimeType: FileRecord['mimeType'],
  bytes: number,
  sha256: string,
  createdAt: number,
]

export const toFile = ([id, owner, sessionId, name, mimeType, bytes, sha256, createdAt]: FileRow): FileRecord => ({
  id,
  owner,
  sessionId,
  name,
  mimeType,
  bytes,
  sha256,
  createdAt,
})

export const fileById: Statement = { name: 'file_by_id', text: `SELECT ${FILE_COLUMNS} FROM files WHERE id = $1` }

const filesOfSession: Statement = {
  name: 'files_of_session',
  text: `SELECT ${FILE_COLUMNS} FROM files WHERE session = $1 ORDER BY ord`,
}

/** The same content lies on disk once. */
const unsent: Statement = {
  name: 'files_unsent',
  text: `SELECT coalesce(sum(n), 0)::bigint, coalesce(sum(bytes), 0)::bigint, min(oldest) FROM (
    SELECT count(*) AS n, max(bytes) AS bytes, min(created_at) AS oldest FROM files
    WHERE owner = $1 AND session IS NULL GROUP BY sha256) AS contents`,
}

const knownHashes: Statement = {
  name: 'files_known_hashes',
  text: 'SELECT DISTINCT sha256 FROM files WHERE sha256 = ANY($1::text[])',
}

export function createFileReads(sql: Sql): FileReads {
  return {
    async get(id) {
      const [row] = await sql.rows<FileRow>(fileById, [id])
      return row === undefined ? null : toFile(row)
    },
    async ofSession(sessionId) {
      return (await sql.rows<FileRow>(filesOfSession, [sessionId])).map(toFile)
    },
    async unsent(owner) {
      const [row] = await sql.rows<[files: number, bytes: number, oldest: number | null]>(unsent, [owner])
      const [files, bytes, oldest] = row ?? [0, 0, null]
      return { files, bytes, oldest }
    },
    async knownHashes(hashes) {
      return hashes.length === 0 ? [] : (await sql.rows<[string]>(knownHashes, [hashes])).map(([hash]) => hash)
    },
  }
}
