// Statements must not get slower as the database grows. SQLite explains how it would find the rows.

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { usageGroups } from '../../ports/usage.ts'
import { messageColumns } from '../../tables/messages.ts'
import { createApplyCommand } from '../apply-command.ts'
import { createEntryWriter } from '../entry-writer.ts'
import { createLiveState } from '../live-sessions.ts'
import { migrate } from '../migrations.ts'
import { countPlannings } from '../testing/count-plannings.ts'
import { watchPlans } from '../testing/watched-plans.ts'
import { createReads } from './reads.ts'

/** Every statement that the store prepares when it opens, with its query plan. */
function plansOfStore(): Map<string, string[]> {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const watched = watchPlans(db)
  const state = createLiveState()
  const { usage } = createReads(watched.db, state)
  // Their texts depend on what is asked.
  for (const by of usageGroups)
    void usage.sums({ from: 0, to: 1, by, limit: 1, agent: 'a', owner: 'o', withTimes: true })
  void usage.totals({ from: 0, to: 1, sessionId: 's', model: 'p/m' })
  createApplyCommand(watched.db, state, createEntryWriter(watched.db, state, null))
  return watched.plans
}

test('no statement of a request scans a table, and housekeeping scans only an index of what is due', () => {
  const walked = [...plansOfStore()].flatMap(([sql, plan]) => {
    // `contents` and `newest` are subqueries. FTS5 calls a search by words (M) or by the number of a row (=) a scan too.
    const scans = plan.filter((detail) =>
      /^SCAN (?!json_each|\(subquery|contents|newest|CONSTANT ROW|search_words VIRTUAL TABLE INDEX \d+:[M=])/.test(
        detail,
      ),
    )
    return scans.length === 0 ? [] : [[sql.slice(0, 60), scans]]
  })

  expect(Object.fromEntries(walked)).toEqual({
    // Used only by an export of everything. The second one reads a page, in the order of the primary key.
    'SELECT workspace, sha256, text, at, by FROM policy_pins ORDE': [
      'SCAN policy_pins USING INDEX sqlite_autoindex_policy_pins_1',
    ],
    'SELECT day, session_id, owner, agent, provider, model, runs,': ['SCAN usage'],
    // Used only if the number of sessions is limited, and once: the store counts on from there.
    [`SELECT count(*) FROM sessions WHERE status <> 'terminated'`.slice(0, 60)]: expect.any(Array),
    // One row for each process.
    'DELETE FROM leases WHERE owner <> ?1': ['SCAN leases'],
    'SELECT id FROM sessions INDEXED BY sessions_uncompacted WHER': ['SCAN sessions USING INDEX sessions_uncompacted'],
    // Stops at the first item that is young enough, so it reads only what is removed.
    'SELECT n FROM feed WHERE at >= ? ORDER BY n LIMIT 1': ['SCAN feed'],
    // Stops at the first row.
    'SELECT EXISTS (SELECT 1 FROM messages WHERE mid > (SELECT in': ['SCAN search_due'],
    // The days of a page of sessions, which the statement counts by itself.
    'WITH RECURSIVE days (id, day, until) AS ( SELECT id, CASE WH': ['SCAN days', 'SCAN days'],
    // In the order of the list, so it stops at its limit.
    'SELECT id, session, owner, created_at, data FROM checkpoints': ['SCAN checkpoints USING INDEX checkpoints_newest'],
    'SELECT kind, id, status, session, owner, run_id, continuatio': ['SCAN waits USING INDEX waits_unapplied'],
    'SELECT runs.id, sessions.id, runs.owner, runs.agent, wire_id': ['SCAN runs USING INDEX runs_open'],
    'SELECT runs.id, sessions.id, fence, cancel_requested FROM ru': ['SCAN runs USING INDEX runs_open'],
    // The sums of a range of days, which is found by the primary key.
    ...Object.fromEntries(
      ["agent AS key, '' AS ag", "provider || '/' || mod", "session_id AS key, '' ", "owner AS key, '' AS ag"].map(
        (key) => [`WITH counted AS MATERIALIZED ( SELECT ${key}`, ['SCAN counted', 'SCAN largest']],
      ),
    ),
  })
})

test('no statement is planned again because its values are others', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const statements = new Map<string, StatementSync>()
  const watched: DatabaseSync = Object.assign(Object.create(db), {
    prepare(sql: string): StatementSync {
      const statement = db.prepare(sql)
      if (!sql.trim().startsWith('INSERT')) statements.set(sql, statement)
      return statement
    },
  })
  const state = createLiveState()
  createReads(watched, state)
  createApplyCommand(watched, state, createEntryWriter(watched, state, null))
  const plannings = countPlannings(db)

  const again = [...statements].flatMap(([sql, statement]) => {
    const numbered = [...sql.matchAll(/\?(\d+)/g)].map(([, number]) => Number(number))
    const places = numbered.length > 0 ? Math.max(...numbered) : sql.split('?').length - 1
    statement.all(...Array<string>(places).fill('1'))
    const before = plannings()
    statement.all(...Array<string>(places).fill('2'))
    return plannings() === before ? [] : [sql]
  })

  expect(statements.size).toBeGreaterThan(100)
  expect(again).toEqual([])
  db.close()
})

test.each([
  ['of a session', 'FROM files WHERE session = ?1 ORDER BY ord', 'SEARCH files USING INDEX files_session (session=?)'],
  ['by their hashes', 'sha256 IN', 'SEARCH files USING COVERING INDEX files_hash (sha256=?)'],
  [
    'that were never sent',
    'DELETE FROM files WHERE session IS NULL',
    'SEARCH files USING INDEX files_unsent (created_at<?)',
  ],
  [
    'that somebody has not sent',
    'WHERE owner = ?1 AND session IS NULL GROUP BY sha256',
    'SEARCH files USING COVERING INDEX files_unsent_owner (owner=?)',
  ],
])('files %s are found by an index', (_what, statement, index) => {
  const found = [...plansOfStore()].filter(([sql]) => sql.includes(statement)).map(([, plan]) => plan)

  expect(found.length).toBe(1)
  expect(found[0]?.find((detail) => detail.includes('files'))).toBe(index)
  expect(found[0]?.filter((detail) => detail.includes('TEMP B-TREE'))).toEqual([])
})

const SELECT_MESSAGES = `SELECT ${messageColumns('mid')} FROM messages WHERE`

test.each([
  [
    'the newest of a session',
    `${SELECT_MESSAGES} sid = ?1 AND superseded_by IS NULL AND lane IS NULL ORDER BY mid DESC LIMIT ?2 + 0`,
    'SEARCH messages USING INDEX messages_shown (sid=?)',
  ],
  [
    'older ones',
    `${SELECT_MESSAGES} sid = ?1 AND superseded_by IS NULL AND lane IS NULL AND mid <`,
    'SEARCH messages USING INDEX messages_shown (sid=? AND rowid<?)',
  ],
  [
    'the newest of a sub-agent',
    `${SELECT_MESSAGES} sid = (SELECT sid FROM sessions WHERE id = ?1) AND lane = ?2`,
    'SEARCH messages USING INDEX messages_lane (sid=? AND lane=?)',
  ],
  [
    'those that a run supersedes',
    'UPDATE messages SET superseded_by = ?3 WHERE sid = ?1 AND superseded_by IS NULL AND lane IS NULL',
    'SEARCH messages USING INDEX messages_shown (sid=? AND rowid>?)',
  ],
  [
    'those of sub-agents that a run supersedes',
    'UPDATE messages SET superseded_by = ?3 WHERE sid = ?1 AND superseded_by IS NULL AND lane IS NOT NULL',
    'SEARCH messages USING INDEX messages_lane (sid=? AND lane>?)',
  ],
])('messages: %s are read from their index, in its order', (_what, statement, index) => {
  const found = [...plansOfStore()].filter(([sql]) => sql.startsWith(statement)).map(([, plan]) => plan)

  expect(found.length).toBe(1)
  expect(found[0]?.[0]).toBe(index)
  expect(found[0]?.filter((detail) => detail.includes('TEMP B-TREE'))).toEqual([])
})

test('asides are found by the index of lanes, which is empty for most sessions', () => {
  const found = [...plansOfStore()].filter(([sql]) =>
    /lane IS NOT NULL AND superseded_by IS NULL\s+AND \+mid/.test(sql),
  )

  expect(found.map(([, plan]) => plan[0])).toEqual(['SEARCH messages USING INDEX messages_lane (sid=? AND lane>?)'])
})

test('the newest runs of a session are read from its index, in its order', () => {
  const [plan = []] = [...plansOfStore()].filter(([sql]) => sql.includes('rid <')).map(([, found]) => found)

  expect(plan.some((detail) => detail.includes('runs_session (<expr>=?'))).toBe(true)
  expect(plan.filter((detail) => detail.includes('TEMP B-TREE'))).toEqual([])
})

test('the open runs of a session are found by their own index, however many have ended', () => {
  const plans = [...plansOfStore()].filter(([sql]) => sql.includes("status IN ('queued', 'running', 'waiting')"))
  const reads = plans.flatMap(([, plan]) => plan).filter((detail) => /\b(runs|before) USING/.test(detail))

  expect(reads.length).toBeGreaterThan(3)
  expect(reads.filter((detail) => !detail.includes('runs_open'))).toEqual([])
})
