// Opens the store and the log on it, and knows what to do when the disk fails.

import type { ByteBudget } from '../domain/byte-budget.ts'
import type { Clock } from '../domain/clock.ts'
import type { ServerState } from '../http/server-state.ts'
import { createSessionLog, type SessionLog } from '../log/session-log.ts'
import { createLocalWake, type Wake } from '../log/wake.ts'
import { databaseIn, type lockDataDir, openStore } from '../open-store.ts'
import { databaseDamaged, HOW_TO_RESTORE } from '../store/sqlite/disk/damage.ts'
import type { Store } from '../store/store.ts'
import type { AppOptions } from './app-options.ts'

const DISK_FAILED = 74

interface LogParts {
  lock: ReturnType<typeof lockDataDir>
  state: ServerState
  room: ByteBudget
  clock: Clock
}

interface OpenLog {
  store: Store
  wake: Wake
  sessionLog: SessionLog
  /** Throws `storage_failed` with how to restore the database if damage was found by then. */
  unlessDamaged(work: () => Promise<void>): Promise<void>
}

/** What is opened here is closed by `undo`. */
export function openLog(
  options: Pick<AppOptions, 'settings' | 'dataDir' | 'log' | 'exit'>,
  { lock, state, room, clock }: LogParts,
  undo: AsyncDisposableStack,
): OpenLog {
  const { dataDir, settings } = options
  const { listeners, unlessDamaged } = watchDisk(options, state)
  const store = openStore({ dataDir, inMemory: settings.store === ':memory:', lock, ...listeners })
  undo.defer(() => store.close())
  // The lock of the data directory lets no other process write, so there is nothing to poll for.
  const wake = createLocalWake({ clock, pollMs: null })
  const sessionLog = createSessionLog({ store, clock, room, wake })
  undo.defer(() => sessionLog.close())
  return { store, wake, sessionLog, unlessDamaged }
}

/** What happens when the disk fails to sync, or the database turns out to be damaged. */
function watchDisk({ dataDir, log, exit }: Pick<AppOptions, 'dataDir' | 'log' | 'exit'>, state: ServerState) {
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
