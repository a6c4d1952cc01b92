// A Postgres on this machine for the bench, with a database for each store that is measured.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres } from '../../test/postgres/server.ts'
import { askOnce, openTestDatabase } from '../../test/postgres/test-database.ts'
import { cpuMs } from '../process-stat.ts'
import type { Stage, Target } from '../stage.ts'

export interface Databases {
  /** URL of a new database. */
  create(): Promise<string>
  /** A server on this database. */
  server(url: string, options?: { name?: string; anyCore?: boolean; nodeArgs?: readonly string[] }): Promise<Target>
  /** CPU time of all processes of Postgres. */
  cpuMs(): number
  /** What Postgres has done for this database so far. */
  work(url: string): Promise<Work>
  close(): Promise<void>
}

export interface Work {
  walBytes: number
  walSyncs: number
  commits: number
  rowsAdded: number
  rowsChanged: number
  statements: number
  notifies: number
}

/** After this time, idle connections have reported what they did. */
const REPORTED_MS = 11_000

export async function openDatabases(stage: Stage): Promise<Databases> {
  const server = await startPostgres({
    settings: {
      shared_preload_libraries: 'pg_stat_statements',
      'pg_stat_statements.track_utility': 'on',
      max_connections: 100,
      shared_buffers: '512MB',
      max_wal_size: '8GB',
      maintenance_work_mem: '512MB',
      track_wal_io_timing: 'on',
    },
  })
  const pid = Number(readFileSync(join(server.dir, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
  stage.unpin(pid)
  await askOnce(server.url, 'CREATE EXTENSION pg_stat_statements')

  return {
    create: async () => (await openTestDatabase(server.url)).url,
    server: (url, { name = 'Postgres', ...options } = {}) =>
      stage.server({ name, env: { QUARTERDECK_STORE: url }, ...options }),
    cpuMs: () => cpuMs(pid),
    async work(url) {
      await delay(REPORTED_MS)
      const [row = {}] = await askOnce(server.url, workOf(new URL(url).pathname.slice(1)))
      const number = (name: string): number => Number(row[name] ?? 0)
      return {
        walBytes: number('wal_bytes'),
        walSyncs: number('wal_syncs'),
        commits: number('commits'),
        rowsAdded: number('rows_added'),
        rowsChanged: number('rows_changed'),
        statements: number('statements'),
        notifies: number('notifies'),
      }
    },
    close: () => server.discard(),
  }
}

const workOf = (database: string): string => `
  SELECT pg_current_wal_insert_lsn() - '0/0' AS wal_bytes,
    (SELECT coalesce(sum(fsyncs), 0) FROM pg_stat_io WHERE object = 'wal') AS wal_syncs,
    xact_commit AS commits, tup_inserted AS rows_added, tup_updated + tup_deleted AS rows_changed,
    (SELECT sum(calls) FROM pg_stat_statements WHERE dbid = datid) AS statements,
    (SELECT sum(calls) FROM pg_stat_statements WHERE dbid = datid AND query LIKE '%pg_notify%') AS notifies
  FROM pg_stat_database WHERE datname = '${database}'`

export const less = (after: Work, before: Work): Work => ({
  walBytes: after.walBytes - before.walBytes,
  walSyncs: after.walSyncs - before.walSyncs,
  commits: after.commits - before.commits,
  rowsAdded: after.rowsAdded - before.rowsAdded,
  rowsChanged: after.rowsChanged - before.rowsChanged,
  statements: after.statements - before.statements,
  notifies: after.notifies - before.notifies,
})
