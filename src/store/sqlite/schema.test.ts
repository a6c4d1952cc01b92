import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { newSession } from '../contract/samples.contract.ts'
import { createCommands } from './commands.ts'
import { createEntryWriter } from './entry-writer.ts'
import { createLiveState } from './live-sessions.ts'
import { createReads } from './reads.ts'
import { migrate, SCHEMA_VERSION } from './schema.ts'

test('a database from before labels keeps its sessions and learns them', async () => {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const old = newSession({ alias: 'old', metadata: { kept: true } })
  db.exec('DROP INDEX sessions_labelled; ALTER TABLE sessions DROP COLUMN label; PRAGMA user_version = 1')
  db.prepare(
    `INSERT INTO sessions (id, owner, agent, status, created_at, last_activity, metadata, alias, message_count, unlisted, seq_ceiling, compacted)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 1)`,
  ).run(old.id, old.owner, old.agent, old.status, old.createdAt, old.lastActivity, '{"kept":true}', 'old')

  migrate(db)

  expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: SCHEMA_VERSION })
  const state = createLiveState()
  const reads = createReads(db, state)
  const apply = createCommands(db, state, createEntryWriter(db, state, null))
  const labelled = newSession({ label: 'kim' })
  apply({ type: 'create_session', session: labelled })
  expect(await reads.sessions({ owner: 'ann', label: null, limit: 10 })).toEqual([old])
  expect(await reads.sessions({ owner: 'ann', label: 'kim', limit: 10 })).toEqual([labelled])
  db.close()
})
