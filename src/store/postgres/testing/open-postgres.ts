import { createSystemClock } from '../../../domain/clock.ts'
import { createIds } from '../../../domain/ids.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { type Database, type DatabaseOptions, openDatabase } from '../connection/database.ts'
import { createPostgresStore, type PostgresOptions, type PostgresStore } from '../postgres-store.ts'

/** What a store needs beside its database. Each time another name of the process. */
export const usualPostgres = (more: Partial<PostgresOptions> = {}): Omit<PostgresOptions, 'url'> => ({
  clock: createSystemClock(),
  log: silentLogger,
  synced: 'on',
  waitMs: 10_000,
  readers: 8,
  writerId: createIds(Date.now).uuid(),
  ...more,
})

export const openTestPostgres = (url: string, more?: Partial<PostgresOptions>): Promise<PostgresStore> =>
  createPostgresStore({ ...usualPostgres(more), url })

/** Connections to a test database, without a store. */
export const connectTest = (url: string, more?: Partial<DatabaseOptions>): Database =>
  openDatabase({ ...usualPostgres(more), url })
