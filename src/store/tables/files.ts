// The records of files. A file without a session was uploaded but not sent yet.

import type { FileRecord } from '../../domain/session/file.ts'
import type { FileReads } from '../ports/files.ts'
import type { RowWrites } from './row-writes.ts'
import { insertRow, type Reading, type Statement } from './statement.ts'

const FILE_COLUMNS = 'id, owner, session, name, mime_type, bytes, sha256, created_at'
type FileRow = [
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

export function createFileReads({ one, many }: Reading): FileReads {
  type UnsentRow = [files: number, bytes: number, oldest: number | null]
  const sums = one(unsent, ([files, bytes, oldest]: UnsentRow) => ({ files, bytes, oldest }))
  const known = many(knownHashes, ([hash]: [string]) => hash)

  return {
    get: one(fileById, toFile),
    ofSession: many(filesOfSession, toFile),
    unsent: async (owner) => (await sums(owner)) ?? { files: 0, bytes: 0, oldest: null },
    knownHashes: async (hashes) => (hashes.length === 0 ? [] : known(hashes)),
  }
}

export const fileWrites: RowWrites<'insert_file' | 'attach_files'> = {
  insert_file: {
    statement: insertRow('files', FILE_COLUMNS),
    values: ({ file: { id, owner, sessionId, name, mimeType, bytes, sha256, createdAt } }) => [
      ...[id, owner, sessionId, name, mimeType, bytes, sha256, createdAt],
    ],
  },
  attach_files: {
    statement: {
      name: 'attach_files',
      text: 'UPDATE files SET session = $1 WHERE id = ANY($2::text[]) AND session IS NULL',
    },
    values: ({ sessionId, ids }) => [sessionId, ids],
  },
}
