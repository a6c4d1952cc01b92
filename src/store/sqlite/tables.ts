import type { DatabaseSync } from 'node:sqlite'
import type { AuditRecord } from '../../domain/audit.ts'
import { createAuditTable } from './audit-table.ts'
import type { EntryWriter } from './entry-writer.ts'
import { createFileTable, type FileTable } from './file-table.ts'
import { createGrantTable, type GrantTable } from './grant-table.ts'
import type { LiveState } from './live-sessions.ts'
import { createRecords, type Records } from './records.ts'
import { createRunOwnership, type RunOwnership } from './run-ownership.ts'
import { createWaitTable, type WaitTable } from './wait-table.ts'

/** What the commands write to. */
export interface Tables {
  db: DatabaseSync
  state: LiveState
  writer: EntryWriter
  records: Records
  ownership: RunOwnership
  waits: WaitTable
  grants: GrantTable
  files: FileTable
  audit: (records: readonly AuditRecord[]) => void
}

export const createTables = (db: DatabaseSync, state: LiveState, writer: EntryWriter): Tables => ({
  db,
  state,
  writer,
  records: createRecords(db),
  ownership: createRunOwnership(state),
  waits: createWaitTable(db),
  grants: createGrantTable(db),
  files: createFileTable(db),
  audit: createAuditTable(db),
})
