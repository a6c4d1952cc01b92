import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createWalWriteback } from './wal-writeback.ts'

test('a thread moves the log; a rest ends the thread, and the next full log starts it again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-writeback-'))
  const path = join(folder, 'a.db')
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)')
  const failures: unknown[] = []
  const writeback = createWalWriteback(db, path, (error) => failures.push(error))
  const insert = db.prepare('INSERT INTO t VALUES (zeroblob(?))')

  /** Writes until the database file has grown, because that is where the log is moved to. */
  async function writeUntilMoved(): Promise<void> {
    const before = statSync(path).size
    while (statSync(path).size === before) {
      insert.run(1_000_000)
      writeback.noticeCommit()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  try {
    await writeUntilMoved()
    writeback.rest()
    await writeUntilMoved()
    expect(failures).toEqual([])
  } finally {
    await writeback.close()
    db.close()
    rmSync(folder, { recursive: true })
  }
})
