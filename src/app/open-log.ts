// Opens the store and the log on it: SQLite for one process, and what to do when its disk fails, or Postgres for several.

import { hostname } from 'node:os'
import { join } from 'node:path'
import { ServerError } from '../domain/errors.ts'
import { isPostgres, type PostgresSettings } from '../domain/settings/store-settings.ts'
import { type EngineReplicas, onlyProcess } from '../engine/ports/replicas.ts'
import { createJobs, createOwnJobs, type Jobs } from '../engine/sessions/jobs.ts'
import { createLocalPresence } from '../engine/sessions/presence.ts'
import { type Blobs, createBlobFolder } from '../files/keep/blob-folder.ts'
import { createCachedBlobs } from '../files/keep/cached-blobs.ts'
import { measureCommits } from '../http/metrics/store-metrics.ts'
import { createNotes, type Notes } from '../log/notes.ts'
import { createSessionLog, type SessionLog } from '../log/session-log.ts'
import { createLocalWake, type Wake } from '../log/wake.ts'
import { createOnlyReplica, openReplica, type Replica } from '../replicas/replica.ts'
import { type Command, needsSync } from '../store/ports/command.ts'
import { databaseDamaged, HOW_TO_RESTORE } from '../store/sqlite/disk/damage.ts'
import type { Store } from '../store/store.ts'
import { tieChains } from '../store/tie-chains.ts'
import { databaseIn } from './data-dir.ts'
import type { Listening } from './open-server.ts'
import { openStore } from './open-store.ts'

const DISK_FAILED = 74

/** A database that cannot be reached is reported by the store itself, which takes a little longer than it waits. */
export const ANSWER_MS = 3_000

/** What exists once the store is open. */
export type Stored = Listening & OpenLog

interface OpenLog {
  store: Store
  replica: StoreReplica
  wake: Wake
  sessionLog: SessionLog
  notes: Notes
  /** Throws `storage_failed` with how to restore the database if damage was found by then. */
  unlessDamaged(work: () => Promise<void>): Promise<void>
}

/** This process among those on the store, with what the store offers to several of them. */
export interface StoreReplica extends Replica {
  engine: EngineReplicas
  jobs: Jobs
  /** The bytes of files. */
  blobs: Blobs
  /** Removes what processes that ended long ago have left, and ties the chains of the audit trail. Once an hour, by one process. */
  tidy(commit: SessionLog['commit']): Promise<void>
  /** This process ends: from now on nothing waits for a database that is away. */
  leave(): void
}

/** What is opened here is closed by `undo`. */
export async function openLog(parts: Listening, undo: AsyncDisposableStack): Promise<OpenLog> {
  const { settings, lock, dataDir, owner, shared, readerBudget, metrics, clock } = parts
  const measured = (store: Store): Store => {
    const commit = (commands: readonly Command[]) => store.commit(commands)
    return { ...store, commit: measureCommits(commit, needsSync, { metrics, clock }) }
  }
  if (isPostgres(settings.store)) {
    const opened = await openPostgres(settings.store, parts, undo)
    const sessionLog = createSessionLog({ ...opened, store: measured(opened.store), clock, budget: readerBudget })
    undo.defer(() => sessionLog.close())
    return {
      ...opened,
      sessionLog,
      notes: createNotes({ log: sessionLog, outbox: opened.store.outbox, clock }),
      unlessDamaged: (work) => work(),
    }
  }
  const { listeners, unlessDamaged } = watchDisk(parts)
  const store = openStore({ dataDir, inMemory: settings.store === ':memory:', lock, ...listeners })
  undo.defer(() => store.close())
  // The lock of the data directory lets no other process write, so there is nothing to poll for.
  const wake = createLocalWake({ clock, pollMs: null })
  const sessionLog = createSessionLog({ store: measured(store), clock, budget: readerBudget, wake })
  undo.defer(() => sessionLog.close())
  const replica: StoreReplica = {
    ...createOnlyReplica({ shared, owner }),
    engine: onlyProcess(owner, createLocalPresence(clock)),
    jobs: createOwnJobs(clock),
    blobs: createBlobFolder(join(dataDir, 'files')),
    tidy: async () => {},
    leave() {},
  }
  const notes = createNotes({ log: sessionLog, outbox: store.outbox, clock })
  return { store, replica, wake, sessionLog, notes, unlessDamaged }
}

/** How much of the files that replicas share each of them keeps at hand. */
const CACHED_BYTES = 1024 ** 3

/** Loaded only when it is used, like the driver behind it. */
async function openPostgres(
  { url, commit: synced, connections, waitMs }: PostgresSettings,
  parts: Listening,
  undo: AsyncDisposableStack,
): Promise<Pick<OpenLog, 'store' | 'wake' | 'replica'>> {
  const { owner, clock, ids, dataDir, log } = parts
  const { createPostgresStore } = await import('../store/postgres/postgres-store.ts')
  const { createPostgresBlobs } = await import('../store/postgres/blob-table.ts')
  const { createReaderRows } = await import('../store/postgres/reader-rows.ts')
  const { createNotifiedWake } = await import('../log/notified-wake.ts')
  const { createSharedPresence } = await import('../engine/sessions/shared-presence.ts')

  const readers = connections - CONNECTIONS_BESIDE_READERS
  const store = await createPostgresStore({ url, clock, log, synced, waitMs, readers, writerId: owner })
  undo.defer(() => store.close())
  const { commit, stop } = refuseUnconfirmed(store.commit, waitMs + ANSWER_MS, parts)
  undo.defer(stop)
  const { shared, database } = store
  undo.defer(await clock.follow(store.time.lead, log))
  const rows = createReaderRows(database.statements, store.time.nowForOthers)
  const wake = createNotifiedWake({
    notifications: database.notifications,
    clock,
    replica: owner,
    findOthers: () => rows.others(owner),
  })
  undo.defer(() => wake.close())
  const isAlone = () => wake.isAlone
  const presence = createSharedPresence({ rows, replica: owner, clock, logger: log, isAlone })
  undo.defer(() => presence.close())
  const place = `${hostname()}:${dataDir}`
  const replica: StoreReplica = {
    ...openReplica({ shared, owner, place, clock, ids, log }, undo),
    engine: { owner, isOnlyProcess: false, isAlone, others: () => wake.others, presence },
    jobs: createJobs({ shared, owner, clock, logger: log }),
    blobs: createCachedBlobs({
      shared: createPostgresBlobs(database.reads),
      dir: join(dataDir, 'file-cache'),
      maxBytes: CACHED_BYTES,
      newId: () => ids.uuid(),
      log,
    }),
    async tidy(commit) {
      await rows.tidy()
      await tieChains({ reads: store.audit, shared, commit, clock, writer: owner })
    },
    leave: database.leave,
  }
  return { store: { ...store, commit }, wake, replica }
}

/** One commits, one listens. */
const CONNECTIONS_BESIDE_READERS = 2

/** What happens when the disk fails to sync, or the database turns out to be damaged. */
function watchDisk({ dataDir, state, log, exit }: Listening) {
  const damage: unknown[] = []
  return {
    listeners: {
      fatal(error: Error) {
        log.error('the disk failed to sync: nothing more can be promised, the server ends', { error })
        exit(DISK_FAILED)
      },
      damaged(error: unknown) {
        // The start fails with it, and says so.
        if (state.current === 'initializing') return void damage.push(error)
        log.error(
          `the database is damaged: nothing is stored any more; stop the server and restore it: ${HOW_TO_RESTORE}`,
          { path: databaseIn(dataDir), error },
        )
      },
    },
    async unlessDamaged(work: () => Promise<void>): Promise<void> {
      try {
        await work()
      } catch (error) {
        if (damage.length === 0) throw error
      }
      const [error] = damage
      if (error === undefined) return
      throw databaseDamaged(databaseIn(dataDir), error instanceof Error ? error.message : String(error), error)
    },
  }
}

const LOOK_MS = 500

/**
 * The same commit, watched: a database can keep one open for as long as its standby is away. Whoever waits for it hears so in time, and the
 * work goes on. Call `stop` when nobody waits any more.
 */
function refuseUnconfirmed(commit: Store['commit'], withinMs: number, { http, clock }: Listening) {
  /** When the commit that is under way began. */
  let since: number | null = null
  let cancel = () => {}
  const look = () => {
    if (since !== null && clock.mono() - since >= withinMs) http.refuseWaiting(withinMs, notConfirmed())
    cancel = clock.after(LOOK_MS, look)
  }
  look()
  return {
    commit: (async (commands) => {
      since = clock.mono()
      try {
        return await commit(commands)
      } finally {
        since = null
      }
    }) satisfies Store['commit'],
    stop: () => cancel(),
  }
}

const notConfirmed = (): ServerError =>
  new ServerError(
    'storage_failed',
    'The database has not confirmed this in time. It is done when the database confirms it. Look whether it is done before you send it again.',
  )
