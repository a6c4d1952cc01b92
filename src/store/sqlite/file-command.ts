import { sessionNotFound } from '../../domain/errors.ts'
import type { AddFile } from '../ports/files.ts'
import { type Done, nothing } from './records.ts'
import type { Tables } from './tables.ts'

/** Makes the command that adds a file. Throws `conflict`; `session_not_found` when it names a session that is not its owner's. */
export function createFileCommand({ records, files }: Tables): (command: AddFile) => Done {
  return ({ file }) => {
    const { sessionId, owner } = file
    const row = sessionId === null ? undefined : records.sessionRow(sessionId)
    if (sessionId !== null && (row?.owner !== owner || row.status === 'terminated')) throw sessionNotFound(sessionId)
    files.insert(file, row === undefined ? null : Number(row.sid))
    return nothing
  }
}
