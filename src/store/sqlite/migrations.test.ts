import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { parseSearch } from '../../domain/search-words.ts'
import { verifyChain } from '../audit-chain.ts'
import { addFile, NOW, newAudit, newFile, newMessage, newSession } from '../contract/samples.contract.ts'
import { dayOf } from '../ports/usage.ts'
import { createApplyCommand } from './apply-command.ts'
import { createEntryWriter } from './entry-writer.ts'
import { createLiveState } from './live-sessions.ts'
import { migrate, SCHEMA_VERSION } from './migrations.ts'
import { createAuditTable } from './rows/audit-table.ts'
import { createReads } from './rows/reads.ts'
import { createSearchIndexRows } from './rows/search-table.ts'

/** A database of an earlier version, with a session and its message. */
function databaseOf(version: number) {
  const db = new DatabaseSync(':memory:')
  migrate(db, version)
  const session = newSession({ alias: 'old', metadata: { kept: true }, messageCount: 1 })
  db.prepare(
    `INSERT INTO sessions (id, owner, agent, status, created_at, last_activity, metadata, alias, message_count, unlisted, seq_ceiling, compacted)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 0, 1)`,
  ).run(
    session.id,
    session.owner,
    session.agent,
    session.status,
    session.createdAt,
    session.lastActivity,
    '{"kept":true}',
    'old',
  )
  const message = newMessage('q')
  db.prepare(
    'INSERT INTO messages (sid, id, role, content, run_id, created_at) SELECT sid, ?, ?, ?, ?, ? FROM sessions',
  ).run(message.id, message.role, String(message.content), message.runId, message.createdAt)
  return { db, session, message }
}

function open(db: DatabaseSync) {
  const state = createLiveState()
  return { reads: createReads(db, state), apply: createApplyCommand(db, state, createEntryWriter(db, state, null)) }
}

test.each([1, 2, 3, 4, 5, 6, 7])(
  'a database of version %i keeps its sessions and learns what came later',
  async (version) => {
    const { db, session, message } = databaseOf(version)
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: version })

    migrate(db)

    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: SCHEMA_VERSION })
    const { reads, apply } = open(db)
    const labelled = newSession({ label: 'kim', activeAgent: 'tutor' })
    apply({ type: 'create_session', session: labelled })
    expect(await reads.sessions.list({ owner: 'ann', label: null, limit: 10 })).toEqual([session])
    expect(await reads.sessions.list({ owner: 'ann', label: 'kim', limit: 10 })).toEqual([labelled])
    expect(await reads.messages.page(session.id, 10)).toEqual([message])
    expect(await reads.messages.ofLane(session.id, 'planner', 10)).toEqual([])
    expect(await reads.waits.list({ limit: 10 })).toEqual([])
    expect(await reads.audit.entries(0, 10)).toEqual([])
    const file = newFile({ sessionId: session.id })
    apply(addFile(file))
    expect(await reads.files.ofSession(session.id)).toEqual([file])
    db.close()
  },
)

test('an approval that a run of an older version left unused is interrupted, and one that a run may still use is not', async () => {
  const { db } = databaseOf(5)
  const addRun = db.prepare(
    `INSERT INTO runs (id, sid, owner, agent, wire_id, status, origin, input, created_at, usage, cancel_requested, fence)
     SELECT ?, sid, 'ann', 'a', ?, ?, 'answer', '{}', 1, '[]', 0, 1 FROM sessions`,
  )
  const addWait = db.prepare(
    `INSERT INTO waits (id, sid, run_id, continuation_run_id, owner, kind, status, created_at, data)
     SELECT ?, sid, 'asked', ?, 'ann', 'approval', ?, 1, '{}' FROM sessions`,
  )
  addRun.run('ended', 'ended', 'interrupted')
  addRun.run('busy', 'busy', 'running')
  addWait.run('unused', 'ended', 'approved')
  addWait.run('used', 'ended', 'consumed')
  addWait.run('to use', 'busy', 'approved')

  migrate(db)

  const statuses = db.prepare('SELECT id, status FROM waits ORDER BY wid').all()
  expect(statuses.map(({ id, status }) => [id, status])).toEqual([
    ['unused', 'interrupted'],
    ['used', 'consumed'],
    ['to use', 'approved'],
  ])
  db.close()
})

/** An audit trail from before entries had the id of a chain. */
function writeOldTrail(db: DatabaseSync, texts: readonly string[]): string {
  let hash = '0'.repeat(64)
  for (const [i, text] of texts.entries()) {
    hash = createHash('sha256').update(`${hash}\n${text}`).digest('hex')
    db.prepare('INSERT INTO audit (n, text, hash) VALUES (?, ?, ?)').run(i + 1, text, hash)
  }
  return hash
}

test('an audit trail from before there were chains stays valid and continues as the main chain', async () => {
  const { db } = databaseOf(7)
  const head = writeOldTrail(db, ['{"old":1}', '{"old":2}'])

  migrate(db)

  const { reads, apply } = open(db)
  const old = await reads.audit.entries(0, 10)
  expect(verifyChain(old)).toEqual({ ok: true, chain: 'main', n: 2, head })
  apply({ type: 'add_audit', audit: [newAudit('ann')] })
  const entries = await reads.audit.entries(0, 10)
  expect(entries.slice(0, 2)).toEqual(old)
  expect(verifyChain(entries)).toMatchObject({ ok: true, n: 3 })
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

test('what an older version stored is counted, and indexed for search in the background', async () => {
  const { db, session } = databaseOf(12)
  const addRun = db.prepare(
    `INSERT INTO runs (id, sid, owner, agent, wire_id, status, origin, input, created_at, usage, cancel_requested, fence)
     SELECT ?1, sid, 'ann', 'a', ?1, 'completed', 'reader', '{}', 1, ?2, 0, 1 FROM sessions`,
  )
  addRun.run('one', '[{"inputTokens":1,"outputTokens":2,"totalTokens":3},{"inputTokens":4}]')
  addRun.run('two', '[]')

  migrate(db)

  const { reads } = open(db)
  expect((await reads.sessions.overview([session.id]))[0]).toMatchObject({ title: 'content of q', tokens: 7 })
  const query = { terms: parseSearch('content'), limit: 10 }
  expect(await reads.search.find(query)).toEqual({ found: [], next: null, isComplete: false })
  const index = createSearchIndexRows(db)
  while (index.step(1)) expect(db.prepare('SELECT indexed_to FROM search_state').get()).toEqual({ indexed_to: 1 })
  const { found, isComplete } = await reads.search.find(query)
  expect([found.map((one) => one.session.id), isComplete]).toEqual([[session.id], true])
  db.close()
})

test('usage begins with what the runs of an older version used', async () => {
  const { db, session } = databaseOf(12)
  const addRun = db.prepare(
    `INSERT INTO runs (id, sid, owner, agent, wire_id, status, origin, input, created_at, finished_at, usage, cancel_requested, fence)
     SELECT ?1, sid, 'ann', 'clerk', ?1, 'completed', 'reader', '{}', 0, ?2, ?3, 0, 0 FROM sessions`,
  )
  const two = { provider: 'openai', model: 'mini', inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 }
  addRun.run('a', NOW, JSON.stringify([two, { ...two, model: 'large' }]))
  addRun.run('b', NOW, JSON.stringify([two]))
  addRun.run('c', null, JSON.stringify([two]))
  addRun.run('e', NOW, '[{"inputTokens":"x"}]')

  migrate(db)

  const { reads } = open(db)
  const sums = { provider: 'openai', cacheWrite: 0, reasoning: 0 }
  const day = dayOf(NOW)
  expect(await reads.usage.sums({ from: day, to: day, by: 'session', limit: 10 })).toEqual([
    { ...sums, key: session.id, provider: '', model: '', runs: 1, input: 0, output: 0, cachedInput: 0 },
    { ...sums, key: session.id, model: 'large', runs: 0, input: 10, output: 2, cachedInput: 4 },
    { ...sums, key: session.id, model: 'mini', runs: 2, input: 20, output: 4, cachedInput: 8 },
  ])
})
