// Knowledge in a file of its own. It can be made again from the documents, so a file that is damaged or of another version is deleted,
// and what a power cut takes is read again. Its calls block: a server has it on another thread.

import { existsSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ServerError } from '../../../domain/errors.ts'
import type { Logger } from '../../../domain/logger.ts'
import { refuseLongPath } from '../../knowledge-refusals.ts'
import type { KnowledgeStore } from '../../ports/knowledge.ts'
import { fromStored, toStored } from '../../tables/stored-text.ts'
import { isDamage, isDamageAtStart } from '../disk/damage.ts'
import { claimFile, makeDataDir } from '../disk/private-file.ts'
import { errcodeOf, storageError } from '../disk/storage-error.ts'
import { createIndexSearch } from './index-search.ts'
import { createIndexTables, createTables, dropTables, numberIn, preparing } from './index-tables.ts'
import { createIndexVectors } from './index-vectors.ts'

export interface SqliteKnowledgeOptions {
  path: string
  log: Logger
  /** How to open a database. Tests limit its size. */
  connect?: Connect
}

type Connect = (path: string) => DatabaseSync

const connectTo: Connect = (path) => new DatabaseSync(path)

/** Keeps nothing on disk, like the path of the same name in SQLite. */
const MEMORY = ':memory:'
/** Any change of the tables, or of what is in them, has a new one. */
const VERSION = 1

/** The caller sees to it that no other process writes to the file. */
export function createSqliteKnowledge(options: SqliteKnowledgeOptions): KnowledgeStore
/** Reads beside a running server. Null: there is no file, or none that this version can read. Writes fail. */
export function createSqliteKnowledge(options: SqliteKnowledgeOptions & { readOnly: true }): KnowledgeStore | null
export function createSqliteKnowledge({
  path,
  log,
  connect = connectTo,
  readOnly = false,
}: SqliteKnowledgeOptions & { readOnly?: boolean }): KnowledgeStore | null {
  const first = readOnly ? openReadOnly(path) : openOrMake(path, log, connect)
  if (first === null) return null
  let db = first
  let known = knownIndexes(db)
  let isClosed = false

  function use(opened: DatabaseSync): void {
    db = opened
    known = knownIndexes(db)
  }

  /** In one transaction. In a file that turns out to be damaged, it is done again on the one that takes its place. */
  function run<T>(begin: string, work: () => T): T {
    try {
      // The file could not be made again, as on a full disk.
      if (!db.isOpen && !isClosed) use(openOrMake(path, log, connect))
      try {
        return inTransaction(db, begin, work)
      } catch (error) {
        known.forget()
        if (readOnly || !isDamage(error)) throw error
        db.close()
        use(makeAgain(path, log, connect, error))
        return inTransaction(db, begin, work)
      }
    } catch (error) {
      throw failure(error)
    }
  }

  function startAnew(): void {
    db.close()
    discard(path)
    use(open(path, connect))
  }

  const read = async <T>(index: string, none: T, work: (tables: Index) => T): Promise<T> =>
    run('BEGIN', () => {
      const tables = known.find(index)
      return tables === null ? none : work(tables)
    })
  const write = async (index: string, work: (tables: Index) => void): Promise<void> =>
    run('BEGIN IMMEDIATE', () => {
      const tables = known.find(index) ?? known.make(index)
      tables.changed()
      work(tables)
    })

  return {
    files: (index, after, limit) => read(index, [], ({ rows }) => rows.files(after, limit)),
    known: (index, documents) => read(index, new Set(), ({ rows }) => rows.known(documents)),
    async put(index, file, document) {
      refuseLongPath(file.path)
      await write(index, ({ rows }) => rows.put(file, document))
    },
    async remove(index, paths) {
      if (await read(index, false, () => true)) await write(index, ({ rows }) => rows.remove(paths))
    },
    figures: (index) =>
      read(index, { files: 0, problems: 0, passages: 0, length: 0, embedded: 0, languages: [] }, ({ figures }) =>
        figures(),
      ),
    problems: (index, limit) => read(index, [], ({ rows }) => rows.problems(limit)),
    indexes: async () => run('BEGIN', () => known.names()),
    async clear(index) {
      const names = run('BEGIN', () => known.names())
      if (!names.includes(index)) return
      try {
        // To give the pages of a large file back takes long, and needs space on a disk that may be full.
        if (names.length === 1 && !readOnly) return startAnew()
        run('BEGIN IMMEDIATE', () => known.drop(index))
        db.exec('PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)')
      } catch (error) {
        throw failure(error)
      }
    },

    frequencies: (index, terms) =>
      read(
        index,
        terms.map(() => 0),
        ({ search }) => search.frequencies(terms),
      ),
    candidates: (index, words, counted, most) =>
      read(index, [], ({ search }) => search.candidates(words, counted, most)),
    passages: (index, ids) => read(index, [], ({ rows }) => ids.flatMap((id) => rows.around(id, 0, 0))),
    around: (index, id, before, after) => read(index, [], ({ rows }) => rows.around(id, before, after)),

    unembedded: (index, limit) => read(index, [], ({ vectors }) => vectors.unembedded(limit)),
    async putVectors(index, all) {
      if (all.length > 0) await write(index, ({ vectors }) => vectors.put(all))
    },
    dimensions: (index) => read(index, null, ({ vectors }) => vectors.dimensions()),
    nearest: (index, code, most) => read(index, [], ({ vectors }) => vectors.nearest(code, most)),
    bytesOf: (index, ids) => read(index, new Map(), ({ vectors }) => vectors.bytesOf(ids)),
    floatsOf: (index, ids) => read(index, new Map(), ({ vectors }) => vectors.floatsOf(ids)),
    async sweepVectors(index, all) {
      if (await read(index, false, () => true)) await write(index, ({ vectors }) => vectors.sweep(all))
    },
    rest() {
      known.forget()
      db.exec('PRAGMA shrink_memory')
    },
    async close() {
      isClosed = true
      if (db.isOpen) db.close()
    },
  }
}

type Index = ReturnType<typeof openIndex>

function openIndex(db: DatabaseSync, n: number) {
  const prepare = preparing(db, n)
  const [rows, search, vectors] = [createIndexTables(prepare), createIndexSearch(prepare), createIndexVectors(prepare)]
  let figures: ReturnType<typeof rows.figures> | null = null
  const changed = () => {
    figures = null
    search.forget()
  }
  return {
    rows,
    search,
    vectors,
    figures() {
      figures ??= rows.figures()
      return figures
    },
    changed,
    forget() {
      changed()
      vectors.forget()
    },
  }
}

/** The indexes of a database by their names. Call it within a transaction. */
function knownIndexes(db: DatabaseSync) {
  const version = db.prepare('PRAGMA data_version')
  const find = db.prepare('SELECT n FROM indexes WHERE name = ?')
  const names = db.prepare('SELECT name FROM indexes ORDER BY name')
  const add = db.prepare('INSERT INTO indexes (name) VALUES (?)')
  const remove = db.prepare('DELETE FROM indexes WHERE n = ?')
  for (const statement of [version, find, names]) statement.setReturnArrays(true)
  const opened = new Map<number, Index>()
  let seen = numberIn(version.get())

  function open(n: number): Index {
    const index = opened.get(n) ?? openIndex(db, n)
    opened.set(n, index)
    return index
  }

  const numberOf = (name: string): number | null => numberIn(find.get(toStored(name)))
  function forget(): void {
    opened.clear()
  }

  return {
    find(name: string): Index | null {
      const n = numberOf(name)
      const now = numberIn(version.get())
      // A server has written, and this process reads beside it.
      if (now !== seen) for (const index of opened.values()) index.forget()
      seen = now
      return n === null ? null : open(n)
    },
    make(name: string): Index {
      const n = Number(add.run(toStored(name)).lastInsertRowid)
      createTables(db, n)
      return open(n)
    },
    names: (): string[] => (names.all() as unknown as [string][]).map(([name]) => fromStored(name)),
    drop(name: string): void {
      const n = numberOf(name)
      if (n === null) return
      remove.run(n)
      opened.delete(n)
      dropTables(db, n)
    },
    forget,
  }
}

function inTransaction<T>(db: DatabaseSync, begin: string, work: () => T): T {
  db.exec(begin)
  try {
    const done = work()
    db.exec('COMMIT')
    return done
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Any other error is a bug. A failed sync loses nothing that cannot be made again. */
const failure = (error: unknown): unknown =>
  errcodeOf(error) !== 0 || isDamage(error) ? storageError(error, () => {}) : error

function openReadOnly(path: string): DatabaseSync | null {
  if (!existsSync(path)) return null
  let db: DatabaseSync | null = null
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: 1_000 })
    if (versionOf(db) === VERSION) return db
    db.close()
    return null
  } catch (error) {
    db?.close()
    if (isDamageAtStart(error)) return null
    throw failure(error)
  }
}

function openOrMake(path: string, log: Logger, connect: Connect): DatabaseSync {
  if (path !== MEMORY) makeDataDir(dirname(path))
  try {
    return open(path, connect)
  } catch (error) {
    if (!isDamageAtStart(error) && !(error instanceof OtherVersion)) throw failure(error)
    return makeAgain(path, log, connect, error)
  }
}

function makeAgain(path: string, log: Logger, connect: Connect, error: unknown): DatabaseSync {
  const reason = error instanceof Error ? error.message : String(error)
  log.warn('the index of documents is made again, because its file cannot be used', { path, reason })
  discard(path)
  try {
    return open(path, connect)
  } catch (cause) {
    throw cause instanceof OtherVersion ? new ServerError('storage_failed', cause.message, { cause }) : failure(cause)
  }
}

function discard(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true })
}

class OtherVersion extends Error {}

const versionOf = (db: DatabaseSync): number => Number(db.prepare('PRAGMA user_version').get()?.user_version)

function open(path: string, connect: Connect): DatabaseSync {
  if (path !== MEMORY) claimFile(path)
  const db = connect(path)
  try {
    db.exec('PRAGMA busy_timeout = 1000; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL')
    db.exec('PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY')
    const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
    const version = versionOf(db)
    if (isEmpty && version === 0) {
      // A number is never used again: who reads beside a server may still know the old one.
      db.exec(`BEGIN; CREATE TABLE indexes (n INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;
        PRAGMA user_version = ${VERSION}; COMMIT`)
    } else if (version !== VERSION) {
      throw new OtherVersion(`it has version ${version}, and this program writes ${VERSION}`)
    }
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
