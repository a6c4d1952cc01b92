// What is done about a database that is not what was written. Found at the start, the server does not start: it would answer from what is
// left, and write into it. Found later, it serves what it can read and stores nothing more.

import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { ServerError } from '../../domain/errors.ts'
import { errcodeOf } from './storage-error.ts'

const SQLITE_ERROR = 1
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

/** A page that makes no sense, or a value that is not the JSON that was written. */
export function isDamage(error: unknown): boolean {
  const code = errcodeOf(error) & 0xff
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB || error instanceof SyntaxError
}

/** While it is opened, SQL of ours that does not fit the tables says the same. */
export const isDamageAtStart = (error: unknown): boolean =>
  isDamage(error) || (errcodeOf(error) & 0xff) === SQLITE_ERROR

/** Behind "restore it". */
export const HOW_TO_RESTORE =
  'put your backup in its place, without the -wal and -shm files beside it, or save what can be read (docs/operations.md, "A damaged database")'

export const databaseDamaged = (path: string, reason: string, cause?: unknown): ServerError =>
  new ServerError('data_dir_damaged', `The database is damaged: ${path} (${reason}). Restore it: ${HOW_TO_RESTORE}.`, {
    details: { path, reason },
    cause,
  })

const WAL_HEADER_BYTES = 32
const WAL_MAGIC = [0x377f0682, 0x377f0683]

/** None where there is no file. */
export const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** What SQLite takes for a new database, or for a log with nothing in it, although something was there. */
export function checkFiles(path: string): void {
  const wal = `${path}-wal`
  if (bytesOf(path) === 0) throw databaseDamaged(path, 'it is empty')
  if (bytesOf(wal) < WAL_HEADER_BYTES) return
  const header = Buffer.alloc(WAL_HEADER_BYTES)
  const file = openSync(wal, 'r')
  try {
    readSync(file, header, 0, WAL_HEADER_BYTES, 0)
  } finally {
    closeSync(file)
  }
  // A power cut may leave zeros: then nothing in it was acknowledged.
  const isBlank = header.every((byte) => byte === 0)
  if (!isBlank && !WAL_MAGIC.includes(header.readUInt32BE(0))) throw databaseDamaged(wal, 'it is no log of SQLite')
}

/** As much as is read in some 50 ms. */
const CHECKED_WHOLE_BYTES = 16 * 1024 * 1024

/** Of a large database the first and the last row of every table: a start must not take longer the more is stored. Throws. */
export function checkTables(db: DatabaseSync, path: string): void {
  const { bytes } =
    db.prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size').get() ?? {}
  if (Number(bytes) <= CHECKED_WHOLE_BYTES) {
    const [found] = db.prepare('PRAGMA quick_check(1)').all()
    const reason = String(found?.quick_check ?? 'ok')
    if (reason !== 'ok') throw databaseDamaged(path, reason.replaceAll('\n', ' '))
    return
  }
  const tables = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL").all()
  for (const { name, sql } of tables) {
    const ends = String(sql).includes('WITHOUT ROWID') ? [''] : ['ORDER BY rowid', 'ORDER BY rowid DESC']
    for (const end of ends) db.prepare(`SELECT * FROM "${name}" ${end} LIMIT 1`).get()
  }
}
