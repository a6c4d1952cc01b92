// Gated calls and consoles read waits and grants all the time. These reads must not get slower as the database grows.

import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { recordKinds } from '../../domain/records/record-kinds.ts'
import type { WaitQuery } from '../ports/waits.ts'
import { createGrantReads } from '../tables/grants.ts'
import { createWaitReads } from '../tables/waits.ts'
import { migrate } from './migrations.ts'
import { createReading, createStatements } from './statements.ts'
import { countPlannings } from './testing/count-plannings.ts'
import { watchPlans } from './testing/watched-plans.ts'

function openWatched() {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const watched = watchPlans(db)
  const reading = createReading(createStatements(watched.db))
  return {
    waits: createWaitReads(reading),
    grants: createGrantReads(reading),
    plans: watched.plans,
    close: () => db.close(),
  }
}

/** The part of the plan that finds the waits. The part for their session is always the same. */
const ofWaits = (plans: Iterable<string[]>) =>
  [...plans].map((plan) => plan.filter((detail) => !/SEARCH sessions|SUBQUERY/.test(detail)))

const page = { limit: 10, before: { createdAt: 1, id: 'x' } }

test.each<[string, Omit<WaitQuery, 'limit' | 'before'>, string[]]>([
  ['all approvals', { wait: 'approval' }, ['waits_newest (kind=? AND (created_at,id)<(?,?))']],
  [
    'those that are pending',
    { wait: 'approval', status: 'pending' },
    ['waits_status (kind=? AND status=? AND (created_at,id)<(?,?))'],
  ],
  [
    'those of an owner',
    { wait: 'approval', owner: 'ann' },
    ['waits_owner (kind=? AND owner=? AND (created_at,id)<(?,?))'],
  ],
  [
    'pending ones of an owner',
    { wait: 'approval', owner: 'ann', status: 'pending' },
    ['waits_owner_status (kind=? AND owner=? AND status=? AND (created_at,id)<(?,?))'],
  ],
  [
    'prompts that wait',
    { wait: 'prompt', isWaiting: true },
    ['waits_status (kind=? AND status=? AND (created_at,id)<(?,?))'],
  ],
  ['prompts that are done', { wait: 'prompt', isDone: true }, ['waits_done (kind=? AND <expr><?)']],
  [
    'prompts of an owner that are done',
    { wait: 'prompt', owner: 'ann', isDone: true },
    ['waits_done (kind=? AND <expr><?)'],
  ],
  [
    'standbys of an owner that wait',
    { wait: 'standby', owner: 'ann', isWaiting: true },
    ['waits_owner_status (kind=? AND owner=? AND status=? AND (created_at,id)<(?,?))'],
  ],
])('a page of %s is read from an index, in its order', async (_what, query, indexes) => {
  const { waits, plans, close } = openWatched()
  plans.clear()

  await waits.list({ ...query, ...page })

  expect(ofWaits(plans.values())).toEqual([indexes.map((index) => `SEARCH waits USING INDEX ${index}`)])
  close()
})

test.each<[string, Omit<WaitQuery, 'limit'>, string]>([
  ['a session', { sessionId: 's', wait: 'approval' }, 'waits_session (session=?)'],
  [
    'a session that are pending',
    { sessionId: 's', status: 'pending', wait: 'approval' },
    'waits_session (session=? AND status=?)',
  ],
  ['a run', { runId: 'r', owner: 'ann', wait: 'approval' }, 'waits_run (run_id=?)'],
  ['a run that are pending', { runId: 'r', status: 'pending', wait: 'approval' }, 'waits_run (run_id=?)'],
  ['a continuation', { continuationRunId: 'r', wait: 'approval' }, 'waits_continuation (continuation_run_id=?)'],
  [
    'a continuation in a session',
    { continuationRunId: 'r', sessionId: 's', wait: 'approval' },
    'waits_continuation (continuation_run_id=?)',
  ],
])('those of %s are found by it alone', async (_what, query, index) => {
  const { waits, plans, close } = openWatched()
  plans.clear()

  await waits.list({ ...query, limit: 10 })

  expect(ofWaits(plans.values())).toEqual([[`SEARCH waits USING INDEX ${index}`, 'USE TEMP B-TREE FOR ORDER BY']])
  close()
})

test('alerts that wait are read from an index, status by status', async () => {
  const { waits, plans, close } = openWatched()
  plans.clear()

  await waits.list({ wait: 'alert', isWaiting: true, ...page })

  const search = 'SEARCH waits USING INDEX waits_status (kind=? AND status=? AND (created_at,id)<(?,?))'
  const [found = []] = plans.values()
  expect(plans.size).toBe(1)
  expect(found.filter((detail) => /\bwaits\b/.test(detail))).toEqual(recordKinds.alert.open.map(() => search))
  close()
})

test('expired waits are read from an index of pending waits, in its order', () => {
  const { plans, close } = openWatched()

  const due = [...plans].filter(([sql]) => sql.includes('expires_at <= ?')).map(([, plan]) => plan)

  expect(ofWaits(due)).toEqual([['SEARCH waits USING INDEX waits_due (expires_at<?)']])
  close()
})

test('grants are found by agent and session', async () => {
  const { grants, plans, close } = openWatched()
  plans.clear()

  await grants.list({ now: 1, agent: 'a', sessionId: 's' })
  await grants.list({ now: 1, sessionId: 's' })

  expect([...plans.values()]).toEqual([
    ['SEARCH grants USING INDEX grants_agent (agent=? AND scope=?)', 'USE TEMP B-TREE FOR ORDER BY'],
    ['SEARCH grants USING INDEX grants_scope (scope=?)', 'USE TEMP B-TREE FOR ORDER BY'],
  ])
  close()
})

test.each<Omit<WaitQuery, 'limit'>>([
  { isWaiting: true },
  { sessionId: 's', isWaiting: true },
  { wait: 'approval', owner: 'ann', status: 'pending' },
  { runId: 'r' },
  { wait: 'approval', isDone: true },
])('a list of %j is planned once, and not again for another page', async (query) => {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const waits = createWaitReads(createReading(createStatements(db)))
  const plannings = countPlannings(db)
  await waits.list({ ...query, limit: 10 })
  const before = plannings()

  await waits.list({ ...query, limit: 20 })

  expect(plannings()).toBe(before)
  db.close()
})
