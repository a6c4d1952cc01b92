// The last page of a list of sessions must be as fast as the first, no matter how many sessions there are.

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { SessionRecord } from '../../domain/session/session.ts'
import { create, NOW, newSession } from '../contract/samples.contract.ts'
import type { SessionQuery } from '../ports/sessions.ts'
import type { Store } from '../store.ts'
import { createLiveState } from './live-sessions.ts'
import { migrate } from './migrations.ts'
import { createReads } from './rows/reads.ts'
import { createSqliteStore } from './sqlite-store.ts'
import { watchPlans } from './testing/watched-plans.ts'

/** `npm run test:long` has 100,000. */
const SESSIONS = process.env.LONG === '1' ? 100_000 : 20_000
const BATCH = 1_000
const PAGE = 100

async function seed(store: Store): Promise<void> {
  for (let from = 0; from < SESSIONS; from += BATCH) {
    const sessions = Array.from({ length: BATCH }, (_, i) => {
      const n = from + i
      // One in twenty belongs to somebody else, and one has a label.
      const values: Partial<SessionRecord> = n % 20 === 0 ? { owner: 'bob' } : n % 20 === 1 ? { label: 'kim' } : {}
      const id = `0192f3a1-7b2c-7def-8abc-${n.toString(16).padStart(12, '0')}`
      return create(newSession({ id, lastActivity: NOW + n, ...values }))
    })
    await store.commit(sessions)
  }
}

/** The processor time of the first and the last ten pages, in µs, and the number of sessions on all pages. */
async function walk(store: Store, query: Omit<SessionQuery, 'limit'>) {
  const times: number[] = []
  let count = 0
  let before: SessionQuery['before']
  for (;;) {
    const since = process.threadCpuUsage()
    const page = await store.sessions.list({ ...query, limit: PAGE, before })
    times.push(process.threadCpuUsage(since).user)
    count += page.length
    before = page.at(-1)
    if (page.length < PAGE || before === undefined) break
  }
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
  return { count, first: median(times.slice(0, 10)), last: median(times.slice(-11, -1)) }
}

test(`the last page of ${SESSIONS} sessions comes as fast as the first`, async () => {
  const store = createSqliteStore({
    path: ':memory:',
    fatal(error) {
      throw error
    },
  })
  await seed(store)

  for (const [query, expected] of [
    [{ owner: 'ann' }, 0.95 * SESSIONS],
    [{ owner: 'ann', label: null }, 0.9 * SESSIONS],
    [{ owner: 'ann', label: 'kim' }, 0.05 * SESSIONS],
  ] as const) {
    const { count, first, last } = await walk(store, query)
    expect(count).toBe(expected)
    // Scanning the skipped sessions would take hundreds of times as long.
    expect(last).toBeLessThan(20 * first + 5_000)
  }
  await store.close()
})

test.each<[string, Omit<SessionQuery, 'limit'>, string]>([
  ['an owner', { owner: 'ann' }, 'sessions_listed (owner=? AND (last_activity,id)<(?,?))'],
  ['a label', { owner: 'ann', label: 'kim' }, 'sessions_labelled (owner=? AND label=? AND (last_activity,id)<(?,?))'],
  ['no label', { owner: 'ann', label: null }, 'sessions_labelled (owner=? AND label=? AND (last_activity,id)<(?,?))'],
  [
    'an agent, a kind and a time',
    { owner: 'ann', agent: 'a', kind: 'supervised', since: 1, until: 2 },
    'sessions_listed (owner=? AND last_activity>? AND last_activity<?)',
  ],
  ['all owners, those that ended', { activity: 'ended' }, 'sessions_activity ((last_activity,id)<(?,?))'],
])('a page of %s is read from an index, in its order', async (_what, query, index) => {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const plans: string[][] = []
  const watched = {
    prepare(sql: string): StatementSync {
      plans.push(
        db
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all()
          .map((row) => String(row.detail)),
      )
      return db.prepare(sql)
    },
  }
  const reads = createReads(Object.assign(Object.create(db), watched), createLiveState())
  plans.length = 0

  await reads.sessions.list({ ...query, limit: PAGE, before: { lastActivity: 1, id: 'x' } })

  expect(plans).toEqual([[`SEARCH sessions USING INDEX ${index}`]])
  db.close()
})

test.each(['open', 'running', 'waiting', 'ended'] as const)(
  'a page of sessions that are %s is read in the order of the list, beside lists of the few that do something',
  async (activity) => {
    const db = new DatabaseSync(':memory:')
    migrate(db)
    const watched = watchPlans(db)
    const reads = createReads(watched.db, createLiveState())
    watched.plans.clear()
    await reads.sessions.list({ owner: 'ann', activity, limit: PAGE, before: { lastActivity: 1, id: 'x' } })
    const [plan = []] = watched.plans.values()

    expect(plan[0]).toBe('SEARCH sessions USING INDEX sessions_listed (owner=? AND (last_activity,id)<(?,?))')
    const others = plan.slice(1).filter((detail) => /^(SCAN|SEARCH) /.test(detail))
    const small = /^(SCAN runs USING (COVERING )?INDEX runs_open|SEARCH waits USING INDEX waits_status)/
    expect(others.filter((detail) => !small.test(detail))).toEqual([])
    expect(plan.filter((detail) => detail.includes('ORDER BY'))).toEqual([])
    db.close()
  },
)
