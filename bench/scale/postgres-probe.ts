// What a piece of work costs: CPU of this process and of a Postgres server on this machine, its write-ahead log, its rows.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { PostgresServer } from '../../test/postgres/server.ts'

export interface Cost {
  /** Microseconds. */
  databaseCpu: number
  clientCpu: number
  walBytes: number
  commits: number
  inserted: number
  updated: number
  wallMs: number
}

export interface PostgresProbe {
  /**
   * What `work` costs as a whole. Everybody who works on the server meanwhile is counted. Connections report their rows late: those of
   * the last `settleMs` may be missing.
   */
  cost(work: () => Promise<unknown>, settleMs?: number): Promise<Cost>
  /** Memory of one server process that it shares with nobody, in KiB. */
  backendKib(): number
  ask<Row>(sql: string): Promise<Row[]>
  close(): Promise<void>
}

/** Of the database that `url` names. */
export async function openProbe(server: PostgresServer, url: string): Promise<PostgresProbe> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const postmaster = Number(readFileSync(join(server.dir, 'data/postmaster.pid'), 'utf8').split('\n')[0])

  async function ask<Row>(sql: string): Promise<Row[]> {
    return (await client.query(sql)).rows as Row[]
  }

  async function counters(settleMs: number) {
    await new Promise((resolve) => setTimeout(resolve, settleMs))
    const [row] = await ask<
      Record<string, string>
    >(`SELECT xact_commit AS commits, tup_inserted AS inserted, tup_updated AS updated,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS wal FROM pg_stat_database WHERE datname = current_database()`)
    const number = (name: string) => Number(row?.[name] ?? 0)
    return { commits: number('commits'), inserted: number('inserted'), updated: number('updated'), wal: number('wal') }
  }

  return {
    ask,
    async cost(work, settleMs = 200) {
      const before = await counters(settleMs)
      const cpu = process.cpuUsage()
      const database = databaseCpu(postmaster)
      const began = performance.now()
      await work()
      const wallMs = performance.now() - began
      const databaseAfter = databaseCpu(postmaster)
      const used = process.cpuUsage(cpu)
      const after = await counters(settleMs)
      return {
        databaseCpu: databaseAfter - database,
        clientCpu: used.user + used.system,
        walBytes: after.wal - before.wal,
        // The second look at the counters was a transaction, too.
        commits: after.commits - before.commits - 1,
        inserted: after.inserted - before.inserted,
        updated: after.updated - before.updated,
        wallMs,
      }
    },
    backendKib() {
      const own = processesOf(postmaster).map((pid) => ownKib(pid))
      return Math.round(own.reduce((sum, kib) => sum + kib, 0) / Math.max(1, own.length))
    },
    close: () => client.end(),
  }
}

/** Microseconds of the server and all its processes. What ended meanwhile is missing, so connections must stay open. */
const databaseCpu = (postmaster: number): number =>
  processesOf(postmaster).reduce((sum, pid) => sum + Number(readOr(`/proc/${pid}/schedstat`).split(' ')[0]) / 1_000, 0)

function processesOf(parent: number): number[] {
  const isChild = (pid: number) => readOr(`/proc/${pid}/stat`).split(') ')[1]?.split(' ')[1] === String(parent)
  const all = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  return [parent, ...all.map(Number).filter(isChild)]
}

const ownKib = (pid: number): number =>
  Number(/Private_Dirty:\s+(\d+)/.exec(readOr(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0)

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
