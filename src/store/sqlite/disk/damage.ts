// Damaged databases. The server does not start on one, because it would answer from incomplete data and write into it. If damage
// shows up later, the server serves what it can read and stores nothing more.

import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { ServerError } from '../../../domain/errors.ts'
import { unusable } from './private-file.ts'
import { errcodeOf } from './storage-error.ts'

const SQLITE_ERROR = 1
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

/** SQLite found a broken page, or a value is no longer valid JSON. */
export function isDamage(error: unknown): boolean {
  const code = errcodeOf(error) & 0xff
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB || error instanceof SyntaxError
}

/** While a database opens, a statement that does not fit the tables is a sign of damage too. */
export const isDamageAtStart = (error: unknown): boolean =>
  isDamage(error) || (errcodeOf(error) & 0xff) === SQLITE_ERROR

/** Follows "Restore it: ". */
export const HOW_TO_RESTORE =
  'move the data directory away and run quarterdeck restore with your backup, or save what can be read (docs/do/find-out-what-is-wrong.md, "A damaged database")'

export const databaseDamaged = (path: string, reason: string, cause?: unknown): ServerError =>
  new ServerError('data_dir_damaged', `The database is damaged: ${path} (${reason}). Restore it: ${HOW_TO_RESTORE}.`, {
    details: { path, reason },
    cause,
  })

/** Size of the smallest possible database. */
const PAGE_BYTES = 512
const WAL_HEADER_BYTES = 32
/** The last bit of the magic number says the byte order of the checksum. */
const WAL_MAGIC = 0x377f0682

/** 0 if there is no file. */
export const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Finds damage that SQLite would take for a new database or an empty log. */
export function checkFiles(path: string): void {
  const wal = `${path}-wal`
  const bytes = bytesOf(path)
  if (bytes < PAGE_BYTES) throw databaseDamaged(path, bytes === 0 ? 'it is empty' : 'it is cut off')
  if (bytesOf(wal) < WAL_HEADER_BYTES) return
  const header = readHeader(wal)
  // A power cut may leave zeros. Then nothing in the log was acknowledged.
  const isBlank = header.every((byte) => byte === 0)
  if (!isBlank && !isWalHeader(header)) throw databaseDamaged(wal, 'it is not a log of SQLite')
}

function readHeader(wal: string): Buffer {
  try {
    const header = Buffer.alloc(WAL_HEADER_BYTES)
    const file = openSync(wal, 'r')
    try {
      readSync(file, header, 0, WAL_HEADER_BYTES, 0)
    } finally {
      closeSync(file)
    }
    return header
  } catch (cause) {
    throw unusable(wal, cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown', cause)
  }
}

/** Checks the header's checksum. SQLite ignores the whole log if it is wrong. https://sqlite.org/fileformat2.html#checksum_algorithm */
function isWalHeader(header: Buffer): boolean {
  const magic = header.readUInt32BE(0)
  if ((magic & ~1) !== WAL_MAGIC) return false
  const word = (at: number) => (magic === WAL_MAGIC ? header.readUInt32LE(at) : header.readUInt32BE(at))
  let [first, second] = [0, 0]
  for (let at = 0; at < WAL_HEADER_BYTES - 8; at += 8) {
    first = (first + word(at) + second) >>> 0
    second = (second + word(at + 4) + first) >>> 0
  }
  return header.readUInt32BE(24) === first && header.readUInt32BE(28) === second
}

/** Reading this much takes about 50 ms. */
const CHECKED_WHOLE_BYTES = 16 * 1024 * 1024

/** Throws if it finds damage. Of a large database it reads only the first and last row of each table, so that the start stays fast. */
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
