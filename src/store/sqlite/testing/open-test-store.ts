// For tests: a store in a file, or in memory. The tables of those in memory are made once and copied: to make them takes half of the time
// of an opening, and the tests open thousands.

import { DatabaseSync } from 'node:sqlite'
import type { Store } from '../../store.ts'
import { migrate } from '../migrations.ts'
import { createSqliteStore } from '../sqlite-store.ts'

let image: Uint8Array | null = null

export function openTestStore(path?: string): Store {
  const fatal = (error: Error): never => {
    throw error
  }
  return createSqliteStore(path === undefined ? { path: ':memory:', fatal, connect: openCopy } : { path, fatal })
}

function openCopy(path: string): DatabaseSync {
  image ??= makeImage()
  const db = new DatabaseSync(path)
  db.deserialize(image)
  return db
}

function makeImage(): Uint8Array {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const made = db.serialize()
  db.close()
  return made
}
