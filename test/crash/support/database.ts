// Looks into a data directory without touching it.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Yard } from './start-server.ts'

/** What SQLite says about a data directory that no process uses: nothing at all when it is sound. It looks at a copy. */
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

/** Opens a copy, so that looking changes nothing: a write-ahead log is not even read without leaving a trace. */
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
