// Others change things, or the connection breaks, while a process waits for a lock that somebody else holds.

import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../../../test/postgres/tcp-proxy.ts'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../test/postgres/test-database.ts'
import { present } from '../../domain/present.ts'
import {
  accept,
  acceptedRun,
  append,
  approve,
  create,
  done,
  event,
  newApproval,
  newGrant,
  newSession,
  text,
  waitingSession,
} from '../contract/samples.contract.ts'
import type { Command, Result } from '../ports/command.ts'
import type { PostgresStore } from './postgres-store.ts'
import { openTestPostgres } from './testing/open-postgres.ts'

let database: TestDatabase
let proxy: TcpProxy
/** Reaches the database directly. */
let a: PostgresStore
/** Reaches it through the proxy. */
let b: PostgresStore

beforeAll(async () => {
  database = await openTestDatabase()
  proxy = await startTcpProxy(database.url)
  const open = (url: string) => openTestPostgres(url)
  a = await open(database.url)
  b = await open(proxy.url)
})

afterAll(async () => {
  await a.close()
  await b.close()
  await proxy.close()
  await database.drop()
})

/** Does this in a transaction, until it is released. */
async function begin(statement: string): Promise<{ release(): Promise<void> }> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(`BEGIN; ${statement}`)
  return {
    async release() {
      await client.query('COMMIT')
      await client.end()
    },
  }
}

const hold = (statement: string) => begin(`${statement} FOR UPDATE`)

const holdSession = (id: string) => hold(`SELECT 1 FROM heads WHERE session = '${id}'`)

/** Returns when this many statements wait for a lock. */
async function untilWaiting(count: number): Promise<void> {
  for (;;) {
    const rows = await askOnce(
      database.url,
      `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    )
    if (rows.length >= count) return
  }
}

const isOk = ({ ok }: Result): boolean => ok

test.each([
  ['id', () => newSession().id, null],
  ['name', () => null, () => crypto.randomUUID()],
])(
  'a session whose %s is taken while a group waits for another one is found, and locked',
  async (_, newId, newAlias) => {
    const busy = newSession()
    await done(a, create(busy))
    const id = newId()
    const given = { ...present({ id: id ?? undefined }), alias: newAlias?.() ?? null }
    const touch: Command = { type: 'update_session', sessionId: busy.id, metadata: {} }

    const held = await holdSession(busy.id)
    const waiting = b.commit([
      touch,
      accept(newSession(given), { acceptEntries: [event('SECOND')] }),
      accept(newSession(given), { acceptEntries: [event('THIRD')] }),
    ])
    await untilWaiting(1)
    const first = await acceptedRun(a, accept(newSession(given), { acceptEntries: [event('FIRST')] }))
    await held.release()

    const { results } = await waiting
    expect(results.map(isOk)).toEqual([true, true, true])
    const runs = await a.runs.list(first.sessionId)
    expect(runs.map(({ status }) => status)).toEqual(['running', 'queued', 'queued'])
    const entries = await a.entries(first.sessionId, 0, 100)
    const seqs = entries.map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.map((_seq, i) => i + 1))
    expect(entries.map(({ data }) => JSON.parse(data).type).filter((type) => /^[A-Z]+$/.test(type))).toEqual([
      'FIRST',
      'SECOND',
      'THIRD',
    ])
  },
)

test('text that the server still works on when the connection breaks is written once', async () => {
  const run = await acceptedRun(b, accept(newSession()))
  const before = await a.head(run.sessionId)
  const held = await holdSession(run.sessionId)
  const written = b.commit([append(run, [text('one'), text('two')]), append(run, [text('three')])])
  await untilWaiting(1)
  // Postgres does not look at the connection of a statement that waits, so it goes on.
  proxy.breakAll()
  await untilWaiting(2)
  await held.release()

  expect((await written).results).toEqual([
    { ok: true, firstSeq: before + 1 },
    { ok: true, firstSeq: before + 3 },
  ])
  const entries = await a.entries(run.sessionId, before, 100)
  expect(entries.map(({ data }) => JSON.parse(data).delta)).toEqual(['one', 'two', 'three'])
  expect(await done(b, append(run, [text('four')]))).toMatchObject({ firstSeq: before + 4 })
})

test('a commit that nobody knows of for long is waited for, and not repeated', async () => {
  const runs = [await acceptedRun(b, accept(newSession())), await acceptedRun(b, accept(newSession()))]
  const [first, second] = runs
  if (first === undefined || second === undefined) throw new Error('There are two runs.')
  // The last statement of a transaction waits here, with everything else done.
  const held = await hold('SELECT 1 FROM writers')
  const written = b.commit([
    append(first, [event('ONCE')], { sync: true }),
    append(second, [event('ONCE')], { sync: true }),
  ])
  await untilWaiting(1)
  proxy.breakAll()
  await untilWaiting(2)
  await held.release()

  expect((await written).results.map(isOk)).toEqual([true, true])
  for (const { sessionId } of runs) {
    const types = (await a.entries(sessionId, 0, 100)).map(({ data }) => JSON.parse(data).type)
    expect(types.filter((type) => type === 'ONCE')).toEqual(['ONCE'])
  }
})

test('no call begins by a grant that somebody is about to revoke', async () => {
  const { session, waits } = await waitingSession(a, (run) => [newApproval(run)])
  const approvalId = waits[0]?.id ?? ''
  const grant = newGrant({ approvalId })
  await done(a, accept(session, { answers: [approve(approvalId)], grants: [grant] }))
  const run = await acceptedRun(b, accept(newSession()))

  const revoked = await begin(`DELETE FROM grants WHERE id = '${grant.id}'`)
  const begun = b.commit([append(run, [event('BEGUN')], { sync: true, grants: [grant.id] })])
  await untilWaiting(1)
  await revoked.release()

  expect((await begun).results).toMatchObject([{ ok: false, error: { code: 'conflict' } }])
})
