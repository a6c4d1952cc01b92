// Reads must not get slower as the database grows. Postgres explains how it would find the rows, in tables with enough of them.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { parseSearch } from '../../../domain/session/search-words.ts'
import type { SessionQuery } from '../../ports/sessions.ts'
import type { WaitQuery } from '../../ports/waits.ts'
import type { StoreReads } from '../../store.ts'
import type { Database } from '../connection/database.ts'
import { migrate } from '../migrate.ts'
import { connectTest } from '../testing/open-postgres.ts'
import { rowsRead, watchPlans } from '../testing/watched-plans.ts'
import { createReads } from './reads.ts'

const clock = createSystemClock()
let server: TestDatabase
let database: Database

/** A server with 20,000 sessions of 20 people. A few of them do something. */
const SEED = `
  INSERT INTO sessions (id, owner, agent, status, created_at, last_activity, metadata, label, message_count, unlisted, compacted, supervised_status)
    SELECT 's' || i, 'o' || i % 20, 'a' || i % 3, 'active', i, i * 7919 % 20000, '{}', CASE WHEN i % 3 = 0 THEN 'kim' END, 4, i % 11 = 0, i % 100 <> 0,
      CASE i % 50 WHEN 0 THEN 'active' WHEN 1 THEN 'terminated' END FROM generate_series(1, 20000) AS i;
  INSERT INTO runs (session, id, owner, agent, wire_id, status, origin, input, created_at, usage, cancel_requested, fence, lease_owner)
    SELECT 's' || i % 5000 + 1, 'r' || i, 'o', 'a', 'w' || i, CASE i % 1000 WHEN 0 THEN 'running' WHEN 1 THEN 'queued' WHEN 2 THEN 'waiting' ELSE 'completed' END,
      'reader', 'null', i, '[]', false, 1, 'p' || i % 2000 FROM generate_series(1, 10000) AS i;
  INSERT INTO routes SELECT 'run', id, session FROM runs;
  INSERT INTO routes SELECT 'wire', '["o","' || wire_id || '","' || session || '"]', session FROM runs;
  INSERT INTO routes SELECT 'alias', '["o","' || id || '"]', id FROM sessions;
  INSERT INTO waits (session, id, run_id, owner, kind, status, created_at, expires_at, data, unapplied)
    SELECT 's' || i % 5000 + 1, 'w' || i, 'r' || i, 'o' || i % 20, (ARRAY['approval', 'client_call', 'prompt', 'standby', 'alert'])[i % 5 + 1],
      CASE WHEN i % 7 = 0 THEN 'pending' ELSE 'consumed' END, i, i, '{}', i % 997 = 0 FROM generate_series(1, 20000) AS i;
  INSERT INTO routes SELECT 'wait', id, session FROM waits;
  INSERT INTO messages (session, id, role, content, run_id, created_at, lane, superseded_by)
    SELECT 's' || i % 5000 + 1, 'm' || i, 'user', repeat('x', 100), 'r', i, CASE WHEN i % 50 = 0 THEN 'l' END, CASE WHEN i % 9 = 0 THEN 'r' END
    FROM generate_series(1, 20000) AS i;
  INSERT INTO messages (session, id, role, content, run_id, created_at) SELECT 's1', 'own' || i, 'user', 'x', 'r', i FROM generate_series(1, 1000) AS i;
  INSERT INTO entries (session, first_seq, last_seq, data) SELECT 's' || i % 5000 + 1, i, i, '{}' FROM generate_series(1, 20000) AS i;
  INSERT INTO instructions (id, kind, session, owner, workspace, text, source, created_at)
    SELECT 'i' || i, 'task', CASE WHEN i % 2 = 0 THEN 's' || i END, 'o' || i % 5, '/w' || i % 50, 't', 's', i FROM generate_series(1, 5000) AS i;
  INSERT INTO checkpoints (session, id, owner, created_at, data)
    SELECT 's' || i % 100, 'c' || i, 'o' || i % 5, i, '{}' FROM generate_series(1, 5000) AS i;
  INSERT INTO routes SELECT 'checkpoint', id, session FROM checkpoints;
  INSERT INTO grants (id, agent, scope, created_at, data) SELECT 'g' || i, 'a' || i, 's' || i, i, '{}' FROM generate_series(1, 3000) AS i;
  INSERT INTO files (id, session, owner, name, mime_type, bytes, sha256, created_at)
    SELECT 'f' || i, CASE WHEN i % 9 > 0 THEN 's' || i END, 'o' || i % 100, 'n', 'text/plain', 1, 'h' || i, i FROM generate_series(1, 5000) AS i;
  INSERT INTO usage SELECT i / 10, 's' || i, 'o', 'a', 'p', 'm', 1, 1, 1, 1, 1, 1, 1 FROM generate_series(1, 5000) AS i;
  INSERT INTO feed SELECT i, i, 'run', 'r', 's', 'o', 'a', 'running' FROM generate_series(1, 5000) AS i;
  INSERT INTO audit (chain, n, text, hash) SELECT 'c' || i % 4, i, '{}', 'h' FROM generate_series(1, 5000) AS i;
  INSERT INTO outbox SELECT 'c' || i % 100, i, NULL, 1, 0, 0 FROM generate_series(1, 2000) AS i;
  INSERT INTO channel_notes SELECT 'c' || i % 100, 'k' || i, NULL, 'v', 0 FROM generate_series(1, 2000) AS i;
  INSERT INTO search_words SELECT session, 'm', id, ord, array_to_tsvector(ARRAY['word' || ord % 500, '/ms' || ord / 1024, '/ml' || ord / 65536]) FROM messages;
  ANALYZE`

beforeAll(async () => {
  server = await openTestDatabase()
  database = connectTest(server.url, { clock, readers: 2 })
  await migrate(database)
  await askOnce(server.url, SEED)
})

afterAll(async () => {
  await database.close()
  await server.drop()
})

/** The plans of what `read` asks. */
async function plansOf(read: (reads: StoreReads) => Promise<unknown>) {
  const watched = watchPlans(database.reads)
  await read(createReads(watched, clock))
  return watched.plans
}

/** The indexes that are used, and whether rows are sorted, in the order of the plan. */
async function waysOf(read: (reads: StoreReads) => Promise<unknown>): Promise<string[]> {
  const [plan] = await plansOf(read)
  return (plan?.nodes ?? []).flatMap((node) => {
    const { 'Node Type': type, 'Index Name': index, 'Relation Name': table } = node
    if (index !== undefined) return [index]
    return type === 'Seq Scan' ? [`all ${table}`] : /^(Incremental )?Sort$/.test(type) ? [type] : []
  })
}

const before = { lastActivity: 15_000, id: 's5' }

test('no read of a request walks through a table', async () => {
  const plans = await plansOf(async (reads) => {
    await reads.entries('s1', 0, 100)
    await reads.entriesBefore('s1', 500, 100)
    await reads.head('s1')
    await reads.news(new Map(Object.entries({ s1: 5, s2: 0 })))
    await reads.sessions.get('s1')
    await reads.sessions.byAlias('o', 's7')
    await reads.sessions.overview(['s1', 's2', 's51'])
    await reads.messages.page('s1', 20, { before: 'own500', asides: true })
    await reads.messages.ofLane('s1', 'l', 10)
    await reads.messages.known('s1', ['own1', 'own2'])
    await reads.messages.marks('s1', ['own1', 'own2'])
    await reads.messages.userSpokeAfter('s1', 'own5')
    await reads.messages.all('s2')
    await reads.runs.get('r77')
    await reads.runs.byWireId('s1', 'w0')
    await reads.runs.ofOwner('o', 'w77')
    await reads.runs.open('s1')
    await reads.runs.owned('p7')
    await reads.runs.list('s1')
    await reads.runs.latest('s1', 5)
    await reads.runs.latest('s1', 5, 'r5000')
    await reads.waits.get('w5')
    await reads.waits.expired(100, 10)
    await reads.grants.get('g5')
    await reads.grants.list({ now: 1, agent: 'a5', sessionId: 's5' })
    await reads.supervised.proposal('w5')
    await reads.supervised.unapplied(10)
    await reads.supervised.checkpoint('c5')
    await reads.supervised.checkpoints({ sessionId: 's5', limit: 5 })
    await reads.supervised.checkpoints({ owner: 'o1', limit: 5 })
    await reads.supervised.checkpoints({ limit: 5 })
    await reads.supervised.sessions({ limit: 5 })
    await reads.supervised.sessions({ statuses: ['active'], owner: 'o1', limit: 5 })
    await reads.supervised.instructions({ sessionId: 's4', limit: 5 })
    await reads.supervised.instructions({ workspace: { owner: 'o1', root: '/w1' }, isWaiting: true, limit: 5 })
    await reads.files.get('f5')
    await reads.files.ofSession('s5')
    await reads.files.unsent('o5')
    await reads.files.knownHashes(['h1', 'h2'])
    await reads.audit.entries(100, 10)
    await reads.audit.newest(100, 10)
    await reads.audit.entries(100, 10, 'c1')
    await reads.audit.newest(null, 10, 'c1')
    await reads.feed.items(4_900, 10)
    await reads.feed.oldest()
    await reads.outbox.cursor('c1')
    await reads.outbox.deliveries('c1')
    await reads.outbox.note('c1', 'k1')
    await reads.outbox.notes('c1')
    await reads.usage.sums({ from: 7, to: 8, by: 'agent', limit: 5 })
    await reads.usage.sums({ from: 7, to: 400, by: 'day', limit: 5, sessionId: 's77' })
  })
  const walked = plans.flatMap(({ statement, nodes }) =>
    nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => [statement.name, node['Relation Name']]),
  )

  expect(plans.length).toBeGreaterThan(50)
  // Tables without rows, or with a few.
  const small = new Set(['channels', 'leases', 'policy_pins', 'proposals', 'feed_new', 'search_due'])
  expect(walked.filter(([, table]) => !small.has(String(table)))).toEqual([])
})

test('the chains of the audit trail are found without reading them', async () => {
  expect((await waysOf((reads) => reads.audit.chains())).filter((way) => way !== 'audit_pkey')).toEqual([])
  expect((await waysOf((reads) => reads.audit.ends())).filter((way) => way.startsWith('all'))).toEqual([])
})

test.each<[string, Omit<SessionQuery, 'limit'>, string[]]>([
  ['an owner', { owner: 'o1' }, ['sessions_listed']],
  ['a label', { owner: 'o1', label: 'kim' }, ['sessions_labelled']],
  ['no label', { owner: 'o1', label: null }, ['sessions_listed']],
  [
    'an agent, a kind and a time',
    { owner: 'o1', agent: 'a1', kind: 'chat', since: 1_000, until: 14_000 },
    ['sessions_listed'],
  ],
  ['all owners', {}, ['sessions_activity']],
  ['all owners, those that ended', { activity: 'ended' }, ['sessions_elsewhere']],
])('a page of sessions of %s is read from an index, in its order', async (_what, query, ways) => {
  expect(await waysOf((reads) => reads.sessions.list({ ...query, limit: 10 }))).toEqual(ways)
  expect(await waysOf((reads) => reads.sessions.list({ ...query, before, limit: 10 }))).toEqual(ways)
})

test.each(['open', 'running', 'waiting'] as const)(
  'a page of sessions that are %s is found beside lists of the few that do something',
  async (activity) => {
    const ways = await waysOf((reads) => reads.sessions.list({ owner: 'o1', activity, before, limit: 10 }))

    expect(ways.filter((way) => way.startsWith('all'))).toEqual([])
    expect(ways.some((way) => ['sessions_listed', 'sessions_pkey'].includes(way))).toBe(true)
  },
)

test.each<[string, Omit<WaitQuery, 'limit'>, string[]]>([
  ['all approvals', { wait: 'approval' }, ['waits_newest']],
  ['approvals that are pending', { wait: 'approval', status: 'pending' }, ['waits_status']],
  ['approvals of an owner', { wait: 'approval', owner: 'o0' }, ['waits_owner']],
  ['pending approvals of an owner', { wait: 'approval', owner: 'o0', status: 'pending' }, ['waits_owner_status']],
  ['alerts that wait', { wait: 'alert', isWaiting: true }, ['waits_status', 'waits_status', 'waits_status']],
  ['everything', {}, ['waits_newest', 'waits_newest', 'waits_newest', 'waits_newest', 'waits_newest']],
])('a page of %s is read from an index, in its order', async (_what, query, ways) => {
  expect(await waysOf((reads) => reads.waits.list({ ...query, limit: 10 }))).toEqual(ways)
  const page = { before: { createdAt: 9_000, id: 'w9000' }, limit: 10 }
  expect(await waysOf((reads) => reads.waits.list({ ...query, ...page }))).toEqual(ways)
})

test.each<[string, Omit<WaitQuery, 'limit'>]>([
  ['a session', { sessionId: 's1', wait: 'approval' }],
  ['a session that are pending', { sessionId: 's1', isWaiting: true }],
  ['a run', { runId: 'r5' }],
  ['a continuation', { continuationRunId: 'r5' }],
])('the waits of %s are found in one session', async (_what, query) => {
  const [plan] = await plansOf((reads) => reads.waits.list({ ...query, limit: 10 }))
  const conditions = plan?.nodes
    .filter((node) => node['Index Name']?.startsWith('waits'))
    .map((node) => node['Index Cond'])

  expect(conditions?.length).toBeGreaterThan(0)
  for (const condition of conditions ?? []) expect(condition).toContain('session')
})

test('housekeeping reads only indexes of what is due', async () => {
  expect(await waysOf((reads) => reads.sessions.toCompact(4_000, 10))).toContain('sessions_uncompacted')
})

test('looking for the runs of dead replicas does not go through the runs of those that live', async () => {
  const now = Date.now()
  await askOnce(
    server.url,
    `INSERT INTO runs (session, id, owner, agent, wire_id, status, origin, input, created_at, usage, cancel_requested, fence, lease_owner)
       SELECT 'busy' || i, 'busy' || i, 'o', 'a', 'w', 'running', 'reader', 'null', i, '[]', false, 1, CASE WHEN i < 5 THEN 'dead' ELSE 'live' || i % 10 END
       FROM generate_series(1, 10000) AS i;
     INSERT INTO leases SELECT 'live' || i, ${now + 60_000} FROM generate_series(0, 9) AS i;
     INSERT INTO leases SELECT DISTINCT lease_owner, ${now + 60_000} FROM runs WHERE lease_owner LIKE 'p%';
     ANALYZE runs, leases`,
  )
  const watched = watchPlans(database.reads, { measured: true })
  const found = await createReads(watched, clock).runs.orphans(now, 100)
  const parts = watched.plans.flatMap(({ nodes }) => nodes).filter((node) => node['Relation Name'] === 'runs')

  expect(found.flatMap(({ id, status }) => (status === 'running' ? [id] : []))).toEqual(
    [1, 2, 3, 4].map((i) => `busy${i}`),
  )
  expect(parts.reduce((sum, part) => sum + rowsRead(part), 0)).toBeLessThan(200)
})

test('a search finds candidates by words and bucket', async () => {
  const plans = await plansOf((reads) => reads.search.find({ terms: parseSearch('word77 '), limit: 5 }))
  const looks = plans.filter(({ statement }) => statement.text.includes('search_words'))

  expect(looks.length).toBeGreaterThan(0)
  for (const { nodes } of looks) {
    expect(nodes.some((node) => /^search_words/.test(node['Index Name'] ?? ''))).toBe(true)
    expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([])
  }
})
