import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { NOW, newSession } from '../../contract/samples.contract.ts'
import { FEED_ITEMS } from '../../ports/feed.ts'
import { createApplyCommand } from '../apply-command.ts'
import { createEntryWriter } from '../entry-writer.ts'
import { createLiveState } from '../live-sessions.ts'
import { migrate } from '../migrations.ts'

function open(db: DatabaseSync) {
  const state = createLiveState()
  return { state, apply: createApplyCommand(db, state, createEntryWriter(db, state, null)) }
}

test('a purge keeps only the newest items, even after a busy day', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  db.exec(`INSERT INTO feed (at, kind, record_id, session_id, owner, agent, status)
    WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${FEED_ITEMS + 7})
    SELECT ${NOW}, 'session', n, n, 'ann', 'a', 'active' FROM counted`)
  const { apply } = open(db)

  apply({ type: 'purge_sessions', before: null, unlistedBefore: 0, unsentBefore: 0, now: NOW, limit: 10 })

  expect(db.prepare('SELECT min(n) AS oldest, max(n) AS newest, count(*) AS count FROM feed').get()).toEqual({
    oldest: 8,
    newest: FEED_ITEMS + 7,
    count: FEED_ITEMS,
  })
  db.close()
})

test('a transaction that is rolled back takes its numbers with it', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const { state, apply } = open(db)
  apply({ type: 'create_session', session: newSession() })

  db.exec('BEGIN')
  state.begin()
  apply({ type: 'create_session', session: newSession() })
  db.exec('ROLLBACK')
  state.rollback()
  apply({ type: 'create_session', session: newSession() })

  expect(
    db
      .prepare('SELECT n FROM feed ORDER BY n')
      .all()
      .map(({ n }) => n),
  ).toEqual([1, 2])
  db.close()
})
