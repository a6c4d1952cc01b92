import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { ReadOnlyStore } from '../store.ts'
import type { Database } from './connection/database.ts'
import { databaseError } from './connection/database-error.ts'
import { type MigrationPlan, planMigration } from './migrate.ts'
import { createReads } from './rows/reads.ts'

/** A reader may look at one moment of the database for this long. */
const READ_MS = 60 * 60 * 1000

/**
 * Reads the database as it is at one moment, while servers use it, and changes nothing. Throws `data_dir_older` instead of running a
 * migration. `close` leaves the database open.
 */
export async function openPostgresReads(
  database: Database,
  clock: Pick<Clock, 'mono'>,
): Promise<ReadOnlyStore & Pick<MigrationPlan, 'unknown'>> {
  const { missing, from, to, unknown } = await planMigration(database)
  if (missing.length > 0) {
    throw new ServerError(
      'data_dir_older',
      `The database is at version ${from}, and this Quarterdeck needs ${to}. Run quarterdeck migrate, or start the server of this version once.`,
      { details: { found: from, supported: to } },
    )
  }
  const settings = { statement_timeout: READ_MS, idle_in_transaction_session_timeout: READ_MS, jit: 'off' }
  const connection = await database.connect(settings, READ_MS).catch((error: unknown) => {
    throw databaseError(error)
  })
  const reads = createReads(connection, clock)
  return {
    unknown,
    async read(work) {
      try {
        await connection.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        return await work(reads)
      } catch (error) {
        throw error instanceof ServerError ? error : databaseError(error)
      } finally {
        if (connection.isOpen) await connection.run('ROLLBACK').catch(() => {})
      }
    },
    close: () => connection.destroy(),
  }
}
