// Copies of a whole database, for backups.

import { backup, DatabaseSync } from 'node:sqlite'
import { databaseDamaged, isDamage } from './disk/damage.ts'
import { cannotOpen, examineDatabase } from './read-only-store.ts'

/** SQLite begins again whenever somebody writes between two steps, and a server always does. So there is only one. */
const ALL_PAGES = 2 ** 31 - 1

/**
 * Copies the database as it is at one moment, also beside a server that writes to it. The copy has no log beside it. Throws what
 * `examineDatabase` throws, and `storage_full`.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  examineDatabase(from)
  const source = new DatabaseSync(from, { readOnly: true, timeout: 5_000 })
  try {
    await backup(source, to, { rate: ALL_PAGES })
  } catch (error) {
    throw cannotOpen(error, to)
  } finally {
    source.close()
  }
  const copy = new DatabaseSync(to)
  try {
    copy.exec('PRAGMA journal_mode = DELETE')
  } finally {
    copy.close()
  }
}

/** Looks at every page, and returns the hashes of all attached files. Throws `data_dir_damaged`, and what `examineDatabase` throws. */
export function checkWholeDatabase(path: string): Set<string> {
  examineDatabase(path)
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const [first] = db.prepare('PRAGMA integrity_check(1)').all()
    const found = String(first?.integrity_check)
    if (found !== 'ok') throw databaseDamaged(path, found)
    return new Set(
      db
        .prepare('SELECT DISTINCT sha256 FROM files')
        .all()
        .map(({ sha256 }) => String(sha256)),
    )
  } catch (error) {
    throw isDamage(error) ? databaseDamaged(path, String(error), error) : cannotOpen(error, path)
  } finally {
    db.close()
  }
}
