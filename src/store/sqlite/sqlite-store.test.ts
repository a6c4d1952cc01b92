import {
  cpSync,
  fdatasync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { accept, acceptedRun, done, NOW, newSession, PROCESS } from '../contract/samples.contract.ts'
import { describeStore } from '../store.contract.ts'
import type { Store } from '../store.ts'
import type { FileSync } from './disk/wal-sync.ts'
import { migrate } from './migrations.ts'
import { createSqliteStore } from './sqlite-store.ts'

const fatal = (error: Error) => {
  throw error
}

/** The file of a database with nothing but its tables, which take most of the time that a new store takes. */
function emptyDatabase(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-empty-'))
  const path = join(folder, 'test.db')
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL')
  migrate(db)
  db.close()
  const bytes = readFileSync(path)
  rmSync(folder, { recursive: true })
  return bytes
}

let empty: Buffer | null = null

describeStore('SQLite', async () => {
  empty ??= emptyDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-store-'))
  const stores: Store[] = []
  let lives = 0
  let synced = 0
  const disk: FileSync = {
    fdatasync(fd, done) {
      const { size } = fstatSync(fd)
      fdatasync(fd, (error) => {
        synced = Math.max(synced, size)
        done(error)
      })
    },
    fdatasyncSync(fd) {
      synced = fstatSync(fd).size
    },
  }
  const pathOf = (life: number) => join(folder, String(life), 'test.db')

  mkdirSync(join(folder, '0'), { mode: 0o700 })
  writeFileSync(pathOf(0), empty, { mode: 0o600 })

  function open(): Store {
    const store = createSqliteStore({ path: pathOf(lives), fatal, disk })
    stores.push(store)
    return store
  }

  /** Copies the files as they are now: kill -9 would leave the same. The store is not involved. */
  function copyFiles(): void {
    cpSync(join(folder, String(lives)), join(folder, String(lives + 1)), { recursive: true })
    lives += 1
  }

  return {
    store: open(),
    async reopen() {
      copyFiles()
      return open()
    },
    async powerCut() {
      copyFiles()
      const wal = `${pathOf(lives)}-wal`
      truncateSync(wal, Math.min(synced, statSync(wal).size))
      return open()
    },
    async discard() {
      for (const store of stores) await store.close()
      rmSync(folder, { recursive: true })
    },
  }
})

test('opening a database ends no lease: a process that lives keeps its runs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-leases-'))
  const path = join(folder, 'test.db')
  const first = createSqliteStore({ path, fatal })
  await acceptedRun(first, accept(newSession()))
  await done(first, { type: 'renew_lease', leaseOwner: PROCESS, until: NOW + 1_000 })
  await first.close()

  const second = createSqliteStore({ path, fatal })

  expect(await second.runs.orphans(NOW, 10)).toEqual([])
  await second.close()
  rmSync(folder, { recursive: true })
})

test('a stored state that is too large is ignored, and the next state replaces it', async () => {
  const store = createSqliteStore({ path: ':memory:', fatal })
  const session = newSession({ state: 'x'.repeat(2_000_000) })
  await store.commit([{ type: 'create_session', session }])
  expect((await store.sessions.get(session.id))?.state).toBe(undefined)

  await store.commit([{ type: 'update_session', sessionId: session.id, state: { small: true } }])
  expect((await store.sessions.get(session.id))?.state).toEqual({ small: true })
  await store.close()
})
