import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createCheckpoints } from './checkpoints.ts'

test('the log is moved by a thread, which a rest ends and the next log starts anew', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-checkpoints-'))
  const path = join(folder, 'a.db')
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)')
  const failures: unknown[] = []
  const checkpoints = createCheckpoints(db, path, (error) => failures.push(error))
  const insert = db.prepare('INSERT INTO t VALUES (zeroblob(?))')

  /** Until the database file has grown: that is where the log was moved to. */
  async function writeUntilMoved(): Promise<void> {
    const before = statSync(path).size
    while (statSync(path).size === before) {
      insert.run(1_000_000)
      checkpoints.noticeCommit()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  try {
    await writeUntilMoved()
    checkpoints.rest()
    await writeUntilMoved()
    expect(failures).toEqual([])
  } finally {
    await checkpoints.close()
    db.close()
    rmSync(folder, { recursive: true })
  }
})
