// Reads a database without changing it, even while a server writes to it. SQLite shows each reader the data of one moment.

import { DatabaseSync } from 'node:sqlite'
import { ServerError } from '../../domain/errors.ts'
import { type ReadOnlyStore, type StoreReads, wrapReads } from '../store.ts'
import { bytesOf, checkFiles, checkTables, databaseDamaged, isDamage, isDamageAtStart } from './disk/damage.ts'
import { unusable } from './disk/private-file.ts'
import { diskFullAtStart, errcodeOf, isDiskFull, storageError } from './disk/storage-error.ts'
import { createLiveState, type LiveState } from './live-sessions.ts'
import { readVersion, SCHEMA_VERSION } from './migrations.ts'
import { createReads } from './rows/reads.ts'
import { textInFlight } from './text-in-flight.ts'

/**
 * Needs no lock and runs no migration. Throws `data_dir_older` if one would be needed, and what `examineDatabase` throws. The
 * caller makes sure that the file exists.
 */
export function openReadOnlyStore(path: string): ReadOnlyStore {
  const db = openExamined(path)
  const state = createLiveState()
  try {
    if (readVersion(db) < SCHEMA_VERSION) throw olderDatabase(readVersion(db))
    const lastItem = db.prepare('SELECT max(n) AS n FROM feed')
    const store = wrapReads(createReadsWithText(db, state), async (read) => {
      try {
        return await read()
      } catch (error) {
        // Any other error is a bug.
        throw errcodeOf(error) !== 0 || isDamage(error) ? cannotOpen(error, path) : error
      }
    })
    return {
      async read(work) {
        state.sessions.clear()
        db.exec('BEGIN')
        try {
          state.feed.shown = Number(lastItem.get()?.n ?? 0)
          return await work(store)
        } finally {
          if (db.isTransaction) db.exec('ROLLBACK')
        }
      },
      close: () => db.close(),
    }
  } catch (error) {
    db.close()
    throw cannotOpen(error, path)
  }
}

/** A server has text in flight in memory. Here it is read from `tail`, when a session is read. */
function createReadsWithText(db: DatabaseSync, state: LiveState): StoreReads {
  const reads = createReads(db, state)
  const running = db.prepare(
    `SELECT sid, (SELECT max(last_seq) FROM entries WHERE entries.sid = sessions.sid) AS head FROM sessions
     WHERE id = ? AND EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.status = 'running')`,
  )
  function loadText(sessionId: string): void {
    if (state.sessions.has(sessionId)) return
    const row = running.get(sessionId)
    if (row === undefined) return
    const [sid, head] = [Number(row.sid), Number(row.head ?? 0)]
    const pieces = [...textInFlight(db)].filter((piece) => piece.sid === sid)
    const [first] = pieces
    const count = pieces.reduce((sum, piece) => sum + piece.count, 0)
    const segment =
      first === undefined
        ? null
        : {
            firstSeq: first.firstSeq,
            count,
            runId: first.runId,
            pieces: pieces.map(({ data }) => data),
            joined: 0,
            chars: 0,
            tid: 0,
          }
    const end = first === undefined ? head : first.firstSeq + count - 1
    state.sessions.set(sessionId, { sid, head: end, ceiling: 0, syncedCeiling: 0, segment, changedIn: 0 })
  }
  const withText =
    <Args extends unknown[], T>(read: (sessionId: string, ...args: Args) => Promise<T>) =>
    async (sessionId: string, ...args: Args): Promise<T> => {
      loadText(sessionId)
      return read(sessionId, ...args)
    }
  return {
    ...reads,
    entries: withText(reads.entries),
    entriesBefore: withText(reads.entriesBefore),
    head: withText(reads.head),
    async news(after) {
      for (const sessionId of after.keys()) loadText(sessionId)
      return reads.news(after)
    },
  }
}

/**
 * Throws if a server could not use this database: `data_dir_newer`, `data_dir_damaged`, `config_invalid`.
 *
 * Opens it read-only: closing any other connection would move the log into the database, even one that is newer or damaged.
 */
export const examineDatabase = (path: string): void => openExamined(path).close()

function openExamined(path: string): DatabaseSync {
  try {
    checkFiles(path)
  } catch {
    // A running server may have been writing the header of its log at that moment.
    checkFiles(path)
  }
  let db: DatabaseSync | null = null
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: 1000 })
    readVersion(db)
    checkTables(db, path)
    return db
  } catch (error) {
    db?.close()
    throw cannotOpen(error, path)
  }
}

const olderDatabase = (found: number): ServerError =>
  new ServerError(
    'data_dir_older',
    `The data directory was written by an older Quarterdeck (format ${found}, this one reads ${SCHEMA_VERSION}). Start the server of this version once: it updates the data.`,
    { details: { found, supported: SCHEMA_VERSION } },
  )

const SQLITE_PERM = 3
const SQLITE_READONLY = 8
const SQLITE_CANTOPEN = 14

/** The error for a database that cannot be opened or read. Only connections that write need `fatal`, because reads sync nothing. */
export function cannotOpen(error: unknown, path: string, fatal: (error: Error) => void = () => {}): ServerError {
  if (error instanceof ServerError) return error
  const reason = error instanceof Error ? error.message : String(error)
  if (isDamageAtStart(error)) return databaseDamaged(path, reason, error)
  const code = errcodeOf(error) & 0xff
  if (code === SQLITE_PERM || code === SQLITE_READONLY || code === SQLITE_CANTOPEN) return unusable(path, reason, error)
  return isDiskFull(error) ? diskFullAtStart(path, bytesOf(`${path}-wal`), error) : storageError(error, fatal)
}
