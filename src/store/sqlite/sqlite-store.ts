// The store on node:sqlite: one connection, one transaction per `commit`, syncs outside the event loop (`wal-sync.ts`).

import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ServerError } from '../../domain/errors.ts'
import { needsSync, type Result } from '../ports/command.ts'
import { type Store, type StoreFigures, wrapReads } from '../store.ts'
import { OPEN_RECORD_OF_ANY_KIND } from '../tables/conditions.ts'
import { OPEN } from '../tables/runs.ts'
import { createApplyCommand } from './apply-command.ts'
import { bytesOf, databaseDamaged, isDamage } from './disk/damage.ts'
import { createDiskSpace } from './disk/disk-space.ts'
import { claimFile, makeDataDir } from './disk/private-file.ts'
import { diskFull, errcodeOf, storageError } from './disk/storage-error.ts'
import { createWalSync, type FileSync, type WalSync } from './disk/wal-sync.ts'
import { createWalWriteback } from './disk/wal-writeback.ts'
import { createEntryWriter } from './entry-writer.ts'
import { createLiveState, type LiveState } from './live-sessions.ts'
import { migrate } from './migrations.ts'
import { cannotOpen, examineDatabase } from './read-only-store.ts'
import { createReads } from './rows/reads.ts'
import { createSearchIndexer } from './search-indexer.ts'

export interface SqliteOptions {
  /** A file, or `:memory:` for a store that ends with the process. */
  path: string
  /** Called if a sync fails, because acknowledged data may be lost. Must not return. */
  fatal: (error: Error) => void
  /** Called once if the open database turns out to be damaged. From then on nothing is stored. */
  damaged?: (error: unknown) => void
  disk?: FileSync
  /** How to open a database. Tests open a copy in memory whose tables are there already. */
  connect?: Connect
}

type Connect = (path: string) => DatabaseSync

const connectTo: Connect = (path) => new DatabaseSync(path)

const alreadySynced = Promise.resolve()

export function createSqliteStore({ path, fatal, damaged, disk, connect = connectTo }: SqliteOptions): Store {
  const inMemory = path === ':memory:'
  if (!inMemory) {
    makeDataDir(dirname(path))
    if (!existsSync(path)) makeDatabase(path, fatal)
    claimFile(path)
    examineDatabase(path)
  }
  let damage: ServerError | null = null
  const failed = (error: unknown): ServerError => {
    if (!isDamage(error)) return storageError(error, fatal)
    const cause = { cause: error }
    if (damage === null) damaged?.(error)
    damage ??= new ServerError(
      'storage_failed',
      'The database is damaged, so nothing was stored. See the server log.',
      cause,
    )
    return damage
  }
  /** Errors of SQLite and rows that are no longer JSON are failures of the store. Any other error is a bug. */
  async function guarded(read: () => unknown): Promise<unknown> {
    try {
      return await read()
    } catch (error) {
      throw errcodeOf(error) !== 0 || isDamage(error) ? failed(error) : error
    }
  }
  const state = createLiveState()
  const { db, space, sync, writer, apply, reads, begin, commit, rollback, probe, figures } = openDatabase(path, state, {
    fatal,
    disk,
    connect,
  })
  const writeback = inMemory ? null : createWalWriteback(db, path, failed)
  const indexer = createSearchIndexer(db, failed, {
    written: () => writeback?.noticeCommit(),
    hasSpace(chars) {
      // Many steps may come without a commit between them.
      space?.look()
      return space?.hasSpace(chars) ?? true
    },
    isBusy: () => state.runs.size > 0,
  })

  return {
    ...wrapReads({ ...reads, search: indexer.searched(reads.search) }, guarded),

    async commit(commands) {
      if (damage !== null) throw damage
      const results: Result[] = []
      let sealed = false
      const { feed } = state
      const alreadyWritten = feed.written
      state.begin()
      writer.begin()
      try {
        space?.look()
        begin.run()
        for (const command of commands) {
          try {
            space?.refuse(command)
            results.push(apply(command))
            sealed ||= needsSync(command)
          } catch (error) {
            if (!(error instanceof ServerError)) throw error
            results.push({ ok: false, error })
          }
        }
        writer.finish()
        commit.run()
      } catch (error) {
        if (db.isTransaction) rollback.run()
        state.rollback()
        throw failed(error)
      }
      writer.committed()
      writeback?.noticeCommit()
      indexer.noticeCommit()
      const synced = sealed && sync !== null ? sync.synced() : alreadySynced
      const { written } = feed
      if (written > alreadyWritten) {
        void synced.then(() => {
          feed.shown = Math.max(feed.shown, written)
        })
      }
      return { results, synced }
    },

    async check() {
      if (damage !== null) throw damage
      try {
        probe.run()
        space?.look()
        if (space?.hasSpace() === false) throw diskFull(null)
      } catch (error) {
        throw failed(error)
      }
    },

    async figures() {
      const walBytes = inMemory ? 0 : bytesOf(`${path}-wal`)
      try {
        return { ...figures(), walBytes }
      } catch (error) {
        throw failed(error)
      }
    },

    rest() {
      // Frees the page cache. Pages are read from the file again.
      db.exec('PRAGMA shrink_memory')
      writeback?.rest()
    },

    async close() {
      indexer.close()
      await writeback?.close()
      await sync?.close()
      db.close()
    },
  }
}

function openDatabase(
  path: string,
  state: LiveState,
  { fatal, disk, connect }: Pick<SqliteOptions, 'fatal'> & { disk: FileSync | undefined; connect: Connect },
) {
  let db: DatabaseSync | null = null
  let sync: WalSync | null = null
  try {
    db = connect(path)
    db.exec('PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    db.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY')
    const space = path === ':memory:' ? null : createDiskSpace(db, dirname(path))
    // A server that was killed has left its log. It is moved if that makes space.
    space?.look()
    migrate(db)
    if (path !== ':memory:') sync = createWalSync(`${path}-wal`, fatal, disk)
    const writer = createEntryWriter(db, state, sync)
    writer.recoverTail()
    // Prepared here, because a missing column shows now.
    const apply = createApplyCommand(db, state, writer)
    // Readers will see the feed items of the last process, so a power cut must not take them any more.
    if (state.feed.shown > 0) sync?.syncNow()
    return {
      db,
      space,
      sync,
      writer,
      apply,
      reads: createReads(db, state),
      begin: db.prepare('BEGIN IMMEDIATE'),
      commit: db.prepare('COMMIT'),
      rollback: db.prepare('ROLLBACK'),
      figures: createFigures(db),
      // A lease that ran out long ago. Writing it has no effect.
      probe: db.prepare("INSERT OR REPLACE INTO leases (owner, until) VALUES ('health check', 0)"),
    }
  } catch (error) {
    void sync?.close()
    db?.close()
    throw cannotOpen(error, path, fatal)
  }
}

/** Creates the database completely or not at all. Only this user can read it, because it will hold conversations. */
function makeDatabase(path: string, fatal: (error: Error) => void): void {
  // SQLite would apply the log of a lost database to the new one.
  if (bytesOf(`${path}-wal`) > 0) throw databaseDamaged(path, 'it is missing, but its log is there')
  const draft = `${path}.new`
  for (const file of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(file, { force: true })
  claimFile(draft)
  let db: DatabaseSync | null = null
  try {
    db = new DatabaseSync(draft)
    db.exec('PRAGMA journal_mode = WAL')
    migrate(db)
    // Closing does the same, but does not report a full disk.
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch (error) {
    throw cannotOpen(error, draft, fatal)
  } finally {
    db?.close()
  }
  renameSync(draft, path)
}

/** Each of these counts reads only what is open, by an index, however much is stored. */
function createFigures(db: DatabaseSync): () => Omit<StoreFigures, 'walBytes'> {
  const size = db.prepare('SELECT page_count AS pages, page_size FROM pragma_page_count, pragma_page_size')
  // The condition is the one of the index `runs_open`.
  const runs = db.prepare(`SELECT status, count(*) AS n FROM runs WHERE ${OPEN} GROUP BY status`)
  const waits = db.prepare(
    `SELECT kind, count(*) AS n, min(created_at) AS oldest FROM waits
     WHERE ${OPEN_RECORD_OF_ANY_KIND} GROUP BY kind`,
  )
  // The health check writes one that never held.
  const leases = db.prepare('SELECT until FROM leases WHERE until > 0')
  const outbox = db.prepare('SELECT channel, sum(count) AS n FROM outbox GROUP BY channel')

  return () => {
    const { pages = 0, page_size = 0 } = size.get() ?? {}
    const counts = new Map(runs.all().map(({ status, n }) => [String(status), Number(n)]))
    const waiting = waits
      .all()
      .map(({ kind, n, oldest }) => ({ kind: String(kind), count: Number(n), oldestAt: Number(oldest) }))
    return {
      bytes: Number(pages) * Number(page_size),
      inbox: waiting.filter(({ kind }) => kind !== 'client_call').reduce((sum, { count }) => sum + count, 0),
      runs: {
        queued: counts.get('queued') ?? 0,
        running: counts.get('running') ?? 0,
        waiting: counts.get('waiting') ?? 0,
      },
      waits: Object.fromEntries(waiting.map(({ kind, ...figures }) => [kind, figures])),
      leases: leases.all().map(({ until }) => Number(until)),
      outbox: Object.fromEntries(outbox.all().map(({ channel, n }) => [String(channel), Number(n)])),
    }
  }
}
