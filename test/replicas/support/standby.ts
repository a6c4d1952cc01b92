// A primary and its standby: two real servers with streaming replication. A commit waits for the standby.

import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../../crash/support/until.ts'
import { type PostgresServer, startPostgres } from '../../postgres/server.ts'
import { askOnce } from '../../postgres/test-database.ts'

/** Debian's, because the npm package lacks `pg_basebackup`. */
const DEBIAN = '/usr/lib/postgresql/15/bin'

/** Null: there can be a standby on this machine. */
export const noStandby = existsSync(join(DEBIAN, 'pg_basebackup'))
  ? null
  : `Skipped: there is no ${DEBIAN}/pg_basebackup.`

export async function startPair(
  onEnd: (clean: () => Promise<void>) => void,
): Promise<{ first: PostgresServer; standby: PostgresServer }> {
  const standbyDir = mkdtempSync(join(tmpdir(), 'quarterdeck-standby-'))
  const { uid, gid } = postgresUser()
  chownSync(standbyDir, uid, gid)
  const first = await startPostgres({ bin: DEBIAN, settings: { wal_level: 'replica', max_wal_senders: 5 } })
  onEnd(() => first.discard())
  const copy = ['-R', '-D', join(standbyDir, 'data'), '-d', first.url, '--no-sync']
  await promisify(execFile)(join(DEBIAN, 'pg_basebackup'), copy, { uid, gid })
  const standby = await startPostgres({ bin: DEBIAN, dir: standbyDir })
  onEnd(() => standby.discard())
  await askOnce(first.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await askOnce(first.url, 'SELECT pg_reload_conf()')
  await untilSynchronous(first)
  return { first, standby }
}

export async function untilSynchronous({ url }: PostgresServer): Promise<void> {
  const isSynchronous = async () =>
    (await askOnce(url, `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`)).length > 0
  await until('the standby is synchronous', isSynchronous, 60_000)
}

function postgresUser(): { uid: number; gid: number } {
  if (process.getuid?.() !== 0) return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const [, , uid, gid] = /^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}
