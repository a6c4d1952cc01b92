// Opens the store and the log on it: SQLite for one process, and what to do when its disk fails, or Postgres for several.

import type { ByteBudget } from '../domain/byte-budget.ts'
import type { Logger } from '../domain/logger.ts'
import { isPostgres, type PostgresSettings } from '../domain/settings/store-settings.ts'
import type { SharedBlobs } from '../domain/shared-blobs.ts'
import type { Presence } from '../engine/sessions/presence.ts'
import type { Metrics } from '../http/metrics/metrics.ts'
import { measureCommits } from '../http/metrics/store-metrics.ts'
import type { ServerState } from '../http/server-state.ts'
import { createSessionLog, type SessionLog } from '../log/session-log.ts'
import { createLocalWake, type Wake } from '../log/wake.ts'
import { type Command, needsSync } from '../store/ports/command.ts'
import type { Shared } from '../store/ports/shared.ts'
import { databaseDamaged, HOW_TO_RESTORE } from '../store/sqlite/disk/damage.ts'
import type { Store } from '../store/store.ts'
import type { AppOptions } from './app-options.ts'
import { databaseIn, type lockDataDir, openStore } from './open-store.ts'
import type { TeamClock } from './team-clock.ts'

const DISK_FAILED = 74

interface LogParts extends Pick<AppOptions, 'settings' | 'dataDir' | 'log' | 'exit'> {
  lock: ReturnType<typeof lockDataDir>
  /** Name of this process. */
  owner: string
  state: ServerState
  readerBudget: ByteBudget
  metrics: Metrics
  clock: TeamClock
}

interface OpenLog {
  store: Store
  /** Null: one process owns the store. */
  team: Team | null
  wake: Wake
  sessionLog: SessionLog
  /** Throws `storage_failed` with how to restore the database if damage was found by then. */
  unlessDamaged(work: () => Promise<void>): Promise<void>
}

/** What a store offers to several processes. */
export interface Team {
  shared: Shared
  presence: Presence
  blobs: SharedBlobs
  /** Whether no other process lives, as far as this one knows. */
  isAlone(): boolean
  /** The names of the other processes that live, as it was a few seconds ago. */
  others(): readonly string[]
  /** Removes what processes that ended long ago have left. Once an hour, by one process. */
  tidy(): Promise<void>
  /** How long the commit that is under way has taken so far. */
  commitMs(): number
  /** This process ends: from now on nothing waits for a database that is away. */
  leave(): void
}

/** What is opened here is closed by `undo`. `owner` is the name of this process. */
export async function openLog(parts: LogParts, undo: AsyncDisposableStack): Promise<OpenLog> {
  const { lock, owner, readerBudget: room, metrics, clock, dataDir, settings, log } = parts
  const measured = (store: Store): Store => {
    const commit = (commands: readonly Command[]) => store.commit(commands)
    return { ...store, commit: measureCommits(commit, needsSync, { metrics, clock }) }
  }
  if (isPostgres(settings.store)) {
    const opened = await openPostgres(settings.store, { owner, clock, log }, undo)
    const sessionLog = createSessionLog({ ...opened, store: measured(opened.store), clock, room })
    undo.defer(() => sessionLog.close())
    return { ...opened, sessionLog, unlessDamaged: (work) => work() }
  }
  const { listeners, unlessDamaged } = watchDisk(parts)
  const store = openStore({ dataDir, inMemory: settings.store === ':memory:', lock, ...listeners })
  undo.defer(() => store.close())
  // The lock of the data directory lets no other process write, so there is nothing to poll for.
  const wake = createLocalWake({ clock, pollMs: null })
  const sessionLog = createSessionLog({ store: measured(store), clock, room, wake })
  undo.defer(() => sessionLog.close())
  return { store, team: null, wake, sessionLog, unlessDamaged }
}

/** Loaded only when it is used, like the driver behind it. */
async function openPostgres(
  { url, commit: synced, connections, waitMs }: PostgresSettings,
  { owner, clock, log }: { owner: string; clock: TeamClock; log: Logger },
  undo: AsyncDisposableStack,
): Promise<{ store: Store; wake: Wake; team: Team }> {
  const { createPostgresStore } = await import('../store/postgres/postgres-store.ts')
  const { createPostgresBlobs } = await import('../store/postgres/blob-table.ts')
  const { createReaderRows } = await import('../store/postgres/reader-rows.ts')
  const { createNotifiedWake } = await import('../log/notified-wake.ts')
  const { createSharedPresence } = await import('../engine/sessions/shared-presence.ts')

  const readers = connections - CONNECTIONS_BESIDE_READERS
  const store = await createPostgresStore({ url, clock, log, synced, waitMs, readers, writerId: owner })
  undo.defer(() => store.close())
  let since: number | null = null
  const commit: Store['commit'] = async (commands) => {
    since = clock.mono()
    try {
      return await store.commit(commands)
    } finally {
      since = null
    }
  }
  const { reads, statements, notifications } = store.database
  undo.defer(await clock.follow(store.time.lead, log))
  const rows = createReaderRows(statements, store.time.nowForOthers)
  const wake = createNotifiedWake({
    ...{ notifications, clock, replica: owner },
    findOthers: () => rows.others(owner),
  })
  undo.defer(() => wake.close())
  const isAlone = () => wake.isAlone
  const presence = createSharedPresence({ rows, replica: owner, clock, logger: log, isAlone })
  undo.defer(() => presence.close())
  return {
    store: { ...store, commit },
    wake,
    team: {
      ...{ shared: store.shared, presence, blobs: createPostgresBlobs(reads), tidy: rows.tidy },
      ...{ isAlone, others: () => wake.others, leave: store.database.leave },
      commitMs: () => (since === null ? 0 : clock.mono() - since),
    },
  }
}

/** One commits, one listens. */
const CONNECTIONS_BESIDE_READERS = 2

/** What happens when the disk fails to sync, or the database turns out to be damaged. */
function watchDisk({ dataDir, state, log, exit }: LogParts) {
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
