// The time that statements take must not grow with what is stored. SQLite says how it would find the rows.

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createCommands } from './commands.ts'
import { createEntryWriter } from './entry-writer.ts'
import { createLiveState } from './live-sessions.ts'
import { createReads } from './reads.ts'
import { migrate } from './schema.ts'

/** Every statement that the store prepares, and the tables it would walk from end to end. */
function scans(): Record<string, string[]> {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const found: Record<string, string[]> = {}
  const watched = {
    prepare(sql: string): StatementSync {
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
      const walked = plan.map((row) => String(row.detail)).filter((detail) => /^SCAN (?!json_each)/.test(detail))
      if (walked.length > 0) found[sql.replaceAll(/\s+/g, ' ').trim().slice(0, 60)] = walked
      return db.prepare(sql)
    },
  }
  const state = createLiveState()
  const spy = Object.assign(Object.create(db), watched)
  createReads(spy, state)
  createCommands(spy, state, createEntryWriter(spy, state, null))
  return found
}

test('no statement of a request walks a table; those of housekeeping walk an index of what is due', () => {
  expect(scans()).toEqual({
    // Asked only where the number of sessions is limited.
    [`SELECT count(*) AS n FROM sessions WHERE status <> 'terminated'`.slice(0, 60)]: expect.any(Array),
    'SELECT id FROM sessions INDEXED BY sessions_uncompacted WHER': ['SCAN sessions USING INDEX sessions_uncompacted'],
    'SELECT runs.*, sessions.id AS session_id FROM runs JOIN sess': ['SCAN runs USING INDEX runs_open'],
    'SELECT sid FROM sessions WHERE (?4 IS NULL OR agent = ?4) AN': ['SCAN sessions USING INDEX sessions_activity'],
  })
})
