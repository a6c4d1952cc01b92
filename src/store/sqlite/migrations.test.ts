import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { newAudit, newSession } from '../contract/samples.contract.ts'
import { createApplyCommand } from './apply-command.ts'
import { createEntryWriter } from './entry-writer.ts'
import { createLiveState } from './live-sessions.ts'
import { migrate, migrations, readVersion, SCHEMA_VERSION } from './migrations.ts'
import { createAuditTable } from './rows/audit-table.ts'
import { createReads } from './rows/reads.ts'

function open(db: DatabaseSync) {
  const state = createLiveState()
  return { reads: createReads(db, state), apply: createApplyCommand(db, state, createEntryWriter(db, state, null)) }
}

/** What a later release may bring. */
const later = "ALTER TABLE sessions ADD COLUMN later TEXT; UPDATE sessions SET later = id || '!'"
const broken = 'ALTER TABLE sessions ADD COLUMN worse TEXT; no SQL'
const newer = SCHEMA_VERSION + 1

test('a database of an older version keeps what it has and gets what came later, once', async () => {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const session = newSession({ id: 'kept', alias: 'old', metadata: { kept: true } })
  open(db).apply({ type: 'create_session', session })

  migrate(db, [...migrations, later])
  migrate(db, [...migrations, later])

  expect(readVersion(db, newer)).toBe(newer)
  expect({ ...db.prepare('SELECT id, later FROM sessions').get() }).toEqual({ id: 'kept', later: 'kept!' })
  expect(await open(db).reads.sessions.list({ owner: session.owner, limit: 10 })).toEqual([session])
  db.close()
})

test('a session of an older version failed if its last run did', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db, migrations.slice(0, -2))
  const session = db.prepare(
    `INSERT INTO sessions (id, owner, agent, status, created_at, last_activity, message_count, unlisted, seq_ceiling, compacted, metadata)
      VALUES (?, 'ann', 'a', 'active', 1, 1, 0, 0, 0, 0, '{}')`,
  )
  const run = db.prepare(
    `INSERT INTO runs (id, sid, owner, agent, wire_id, status, origin, input, created_at, usage, cancel_requested, fence)
      VALUES (?1, ?2, 'ann', 'a', ?1, ?3, 'background', '{}', 1, '[]', 0, 0)`,
  )
  const last = { bad: ['completed', 'failed'], cut: ['interrupted'], good: ['failed', 'completed'], waits: ['waiting'] }
  for (const [id, statuses] of Object.entries(last)) {
    const { lastInsertRowid } = session.run(id)
    statuses.forEach((status, i) => void run.run(`${id}-${i}`, lastInsertRowid, status))
  }

  migrate(db)

  const failed = db.prepare('SELECT id FROM sessions WHERE failure IS NOT NULL ORDER BY id').all()
  expect(failed.map(({ id }) => id)).toEqual(['bad', 'cut'])
  db.close()
})

test('a migration that fails changes nothing', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db)

  expect(() => migrate(db, [...migrations, later, broken])).toThrow('syntax error')
  db.exec('ROLLBACK')

  expect(readVersion(db)).toBe(SCHEMA_VERSION)
  expect(db.prepare("SELECT name FROM pragma_table_info('sessions') WHERE name = 'later'").get()).toBeUndefined()
  db.close()
})

test('a database of a newer version is refused', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db, [...migrations, later])

  expect(() => migrate(db)).toThrow(expect.objectContaining({ code: 'data_dir_newer' }))
  db.close()
})

test.each([
  [1, 0, '6665030b'],
  [SCHEMA_VERSION, 0, '6665030b'],
  [15, 0, '6665030b'],
  [1, 0x5144434b, '6f8e0edc'],
])('a database from before 0.1.0, of version %i and marked %i, is refused and not changed', (found, marker, commit) => {
  const db = new DatabaseSync(':memory:')
  db.exec(
    `CREATE TABLE sessions (sid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT; PRAGMA application_id = ${marker}; PRAGMA user_version = ${found}`,
  )
  const before = db.serialize()

  expect(() => migrate(db)).toThrow(
    expect.objectContaining({
      code: 'data_dir_older',
      message: `The data directory was written before 0.1.0 (format ${found}), and this Quarterdeck cannot read it. Nothing was changed. To keep its sessions as JSON Lines, run \`sessions export\` in a checkout of commit ${commit}. Then use another --data-dir.`,
    }),
  )
  expect(Buffer.from(db.serialize()).equals(before)).toBe(true)
  db.close()
})

test('the audit trail cannot be changed or removed by any statement', async () => {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  createAuditTable(db).add([newAudit('ann'), newAudit('bob')])
  const { reads } = open(db)
  const before = await reads.audit.entries(0, 10)

  for (const statement of [
    "UPDATE audit SET text = 'x' WHERE n = 1",
    'DELETE FROM audit',
    'DELETE FROM audit WHERE n = 2',
  ]) {
    expect(() => db.exec(statement)).toThrow('the audit trail is only ever added to')
  }

  expect(await reads.audit.entries(0, 10)).toEqual(before)
  expect(before.length).toBe(2)
  db.close()
})
