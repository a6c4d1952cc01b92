// Looks into a data directory without touching it.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Yard } from './start-server.ts'

/** The problems that SQLite finds in a data directory that no process uses. Empty when it is sound. Checks a copy. */
export async function databaseFaults(yard: Pick<Yard, 'directory' | 'dataDir'>): Promise<string[]> {
  return await withDatabaseCopy(yard, (db) => [
    ...db
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => String(row.integrity_check))
      .filter((text) => text !== 'ok'),
    ...db
      .prepare('PRAGMA foreign_key_check')
      .all()
      .map((row) => JSON.stringify(row)),
  ])
}

/** Opens a copy, because even reading a write-ahead log changes files. */
export async function withDatabaseCopy<T>(
  { directory, dataDir }: Pick<Yard, 'directory' | 'dataDir'>,
  look: (db: DatabaseSync) => T,
): Promise<T> {
  const copy = await mkdtemp(join(directory, 'copy-'))
  for (const name of ['quarterdeck.db', 'quarterdeck.db-wal']) {
    const bytes = await readFile(join(dataDir, name)).catch(() => null)
    if (bytes !== null) await writeFile(join(copy, name), bytes)
  }
  const db = new DatabaseSync(join(copy, 'quarterdeck.db'))
  try {
    return look(db)
  } finally {
    db.close()
    await rm(copy, { recursive: true })
  }
}
