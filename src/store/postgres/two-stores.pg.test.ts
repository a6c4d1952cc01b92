// Two processes on one database decide about the same thing at the same time.

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../test/postgres/test-database.ts'
import {
  accept,
  acceptedRun,
  addFile,
  append,
  approve,
  codeOf,
  create,
  done,
  event,
  finish,
  NOW,
  newApproval,
  newAudit,
  newFile,
  newGrant,
  newSession,
  refusal,
  reject,
  remove,
  text,
  waitingSession,
} from '../contract/samples.contract.ts'
import type { Command, Result } from '../ports/command.ts'
import type { PostgresStore } from './postgres-store.ts'
import { openTestPostgres } from './testing/open-postgres.ts'

let database: TestDatabase
let a: PostgresStore
let b: PostgresStore

beforeAll(async () => {
  database = await openTestDatabase()
  const open = () => openTestPostgres(database.url)
  a = await open()
  b = await open()
})

afterAll(async () => {
  await a.close()
  await b.close()
  await database.drop()
})

/** Commits one command at each store, at the same time. */
async function race(one: Command, other: Command): Promise<[Result, Result]> {
  const [first, second] = await Promise.all([a.commit([one]), b.commit([other])])
  const [left, right] = [first.results[0], second.results[0]]
  if (left === undefined || right === undefined) throw new Error('There is no result.')
  return [left, right]
}

/** A race has many outcomes. */
const ROUNDS = 15
async function rounds(work: () => Promise<void>): Promise<void> {
  for (let i = 0; i < ROUNDS; i += 1) await work()
}

const isOk = ({ ok }: Result): boolean => ok

describe('of two processes at the same time', () => {
  test('one creates a session of a name, and the other finds it', () =>
    rounds(async () => {
      const alias = crypto.randomUUID()
      const results = await race(accept(newSession({ alias })), accept(newSession({ alias })))

      expect(results.every(isOk)).toBe(true)
      const sessions = results.map((result) => (result.ok ? result.session?.id : null))
      expect(sessions[0]).toBe(sessions[1])
      const runs = await a.runs.list(sessions[0] ?? '')
      expect(runs.map(({ status }) => status)).toEqual(['running', 'queued'])
    }))

  test('one creates a session, and the other is refused', () =>
    rounds(async () => {
      const session = newSession()
      const results = await race(create(session), create(session))

      expect(results.filter(isOk).length).toBe(1)
      expect(codeOf(results.find(({ ok }) => !ok))).toBe('conflict')
    }))

  test('one makes the last session that the limit allows, and the other is refused', () =>
    rounds(async () => {
      const [{ n }] = (await askOnce(database.url, 'SELECT count(*)::int AS n FROM sessions')) as [{ n: number }]
      const maxSessions = n + 1
      const results = await race(accept(newSession(), { maxSessions }), accept(newSession(), { maxSessions }))

      expect(results.filter(isOk).length).toBe(1)
      expect(codeOf(results.find(({ ok }) => !ok))).toBe('too_many_sessions')
    }))

  test('one accepts the run of an idempotency key, and the other returns it', () =>
    rounds(async () => {
      const idempotency = { key: crypto.randomUUID(), digest: 'd', expiresAt: NOW + 1_000 }
      const results = await race(accept(newSession(), { idempotency }), accept(newSession(), { idempotency }))

      const runs = results.map((result) => (result.ok ? [result.run?.id, result.existing] : null))
      expect(runs[0]?.[0]).toBe(runs[1]?.[0])
      expect(runs.map((run) => run?.[1]).sort()).toEqual([false, true])
    }))

  test('one replaces an expired idempotency key, and the other returns its run', () =>
    rounds(async () => {
      const key = crypto.randomUUID()
      const old = { key, digest: 'd', expiresAt: NOW - 1 }
      await done(a, accept(newSession(), { idempotency: old, run: { createdAt: NOW - 2 } }))
      const idempotency = { key, digest: 'd', expiresAt: NOW + 1_000 }
      const results = await race(accept(newSession(), { idempotency }), accept(newSession(), { idempotency }))

      const runs = results.map((result) => (result.ok ? [result.run?.id, result.existing] : null))
      expect(runs[0]?.[0]).toBe(runs[1]?.[0])
      expect(runs.map((run) => run?.[1]).sort()).toEqual([false, true])
    }))

  test('one answers an approval, and the other learns that it was answered', () =>
    rounds(async () => {
      const { session, waits } = await waitingSession(a, (run) => [newApproval(run)])
      const id = waits[0]?.id ?? ''
      const results = await race(
        accept(session, { answers: [approve(id)], answerAudit: { [id]: newAudit('yes') } }),
        accept(session, { answers: [reject(id)], answerAudit: { [id]: newAudit('no') } }),
      )

      const applied = results.map((result) => result.ok && result.answered?.[0]?.applied)
      expect(applied.filter(Boolean).length).toBe(1)
      const { status } = (await b.waits.get(id)) ?? {}
      expect(status).toBe(applied[0] ? 'approved' : 'rejected')
      expect((await a.runs.list(session.id)).length).toBe(2)
    }))

  test('one takes over a run, and nothing of the other comes after that', () =>
    rounds(async () => {
      const run = await acceptedRun(a, accept(newSession()))
      const claim: Command = {
        type: 'claim_run',
        runId: run.id,
        fence: run.fence,
        leaseOwner: 'b',
        entries: [event('TAKEN_OVER')],
      }
      const [written] = await race(append(run, [text('late')]), claim)
      expect(await refusal(a, append(run, [text('too late')]))).toBe('run_fenced')
      expect(await refusal(a, append(run, [text('too late')], { sync: true }))).toBe('run_fenced')

      const types = (await b.entries(run.sessionId, 2, 10)).map(({ data }) => JSON.parse(data).type)
      expect(types).toEqual(written.ok ? ['TEXT_MESSAGE_CONTENT', 'TAKEN_OVER'] : ['TAKEN_OVER'])
    }))

  test('one takes over a run, and the other does not', () =>
    rounds(async () => {
      const run = await acceptedRun(a, accept(newSession()))
      const claim = (leaseOwner: string): Command => ({
        type: 'claim_run',
        runId: run.id,
        fence: run.fence,
        leaseOwner,
        entries: [],
      })
      const results = await race(claim('a'), claim('b'))

      expect(results.filter(isOk).length).toBe(1)
      expect(codeOf(results.find(({ ok }) => !ok))).toBe('run_fenced')
    }))

  test('one deletes a session, and the other adds nothing to it', () =>
    rounds(async () => {
      const session = newSession()
      await done(a, create(session))
      const [deleted, accepted] = await race(remove(session.id), accept(session))

      expect([isOk(deleted), isOk(accepted)].filter(Boolean).length).toBe(1)
      expect((await b.sessions.get(session.id))?.status).toBe(isOk(deleted) ? 'terminated' : 'active')
      expect((await a.runs.list(session.id)).length).toBe(isOk(accepted) ? 1 : 0)
    }))

  test('both write to one session, and its seqs have neither gaps nor twins', async () => {
    const run = await acceptedRun(a, accept(newSession()))
    const commands = Array.from({ length: 40 }, (_, i) => i)
    await Promise.all([
      ...commands.map((i) => a.commit([append(run, [text(`a${i}`), text(`A${i}`)])])),
      ...commands
        .slice(0, 20)
        .map((i) => b.commit([{ type: 'request_cancel', runId: run.id, entries: [event('CANCEL', { i })] }])),
    ])

    const entries = await b.entries(run.sessionId, 0, 1_000)
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 102 }, (_, i) => i + 1))
    const own = entries.map(({ data }) => JSON.parse(data)).filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    expect(own.map(({ delta }) => delta)).toEqual(commands.flatMap((i) => [`a${i}`, `A${i}`]))
    expect((await a.runs.get(run.id))?.cancelRequested).toBe(true)
    await done(a, finish(run))
    expect((await b.runs.get(run.id))?.cancelRequested).toBe(true)
  })

  test('one sends a file, and the other is refused', () =>
    rounds(async () => {
      const file = newFile()
      await done(a, addFile(file))
      const results = await race(accept(newSession(), { files: [file.id] }), accept(newSession(), { files: [file.id] }))

      expect(results.filter(isOk).length).toBe(1)
      expect(codeOf(results.find(({ ok }) => !ok))).toBe('file_not_found')
    }))

  test('one revokes a grant, and the other learns that there is none', () =>
    rounds(async () => {
      const { session, waits } = await waitingSession(a, (run) => [newApproval(run)])
      const id = waits[0]?.id ?? ''
      const grant = newGrant({ approvalId: id })
      await done(a, accept(session, { answers: [approve(id)], grants: [grant] }))
      const revoke: Command = { type: 'revoke_grant', grantId: grant.id, audit: newAudit('ann') }
      const results = await race(revoke, revoke)

      expect(results.filter(isOk).length).toBe(1)
    }))

  test('one imports the usage of another store, and the other is refused', () =>
    rounds(async () => {
      const sessionId = crypto.randomUUID()
      const row = { day: 20_000, sessionId, owner: 'ann', agent: 'a', provider: 'p', model: 'm', runs: 1, modelRuns: 1 }
      const tokens = {
        input: 5,
        output: 0,
        cachedInput: 0,
        cacheWrite: 0,
        reasoning: 0,
        failed: 0,
        cancelled: 0,
        took: '',
      }
      const bring: Command = { type: 'import_records', usage: [{ ...row, ...tokens }] }
      const results = await race(bring, bring)

      expect(results.filter(isOk).length).toBe(1)
      expect(await a.usage.totals({ from: 0, to: 30_000, sessionId })).toMatchObject([{ input: 5 }])
    }))

  test('one moves a channel on, and the other learns where it is', () =>
    rounds(async () => {
      const channel = crypto.randomUUID()
      const take: Command = { type: 'take_deliveries', channel, after: null, upTo: 5, items: [], skipped: 2 }
      const results = await race(take, take)

      expect(results.filter(isOk).length).toBe(1)
      expect(await a.outbox.deliveries(channel)).toMatchObject([{ count: 2 }])
    }))

  test('of two who change a note, one learns that the other was first', () =>
    rounds(async () => {
      const note = { type: 'note_for_channel', channel: 'schedules', key: crypto.randomUUID() } as const
      const write: Command = { ...note, value: 'here', session: null, at: 1, was: null }

      expect((await race(write, write)).filter(isOk).length).toBe(1)
    }))

  test('groups that name the same sessions in another order do not block each other', async () => {
    const sessions = Array.from({ length: 6 }, () => newSession())
    const runs = await Promise.all(sessions.map((session) => acceptedRun(a, accept(session))))
    const cancel = (i: number): Command => ({ type: 'request_cancel', runId: runs[i]?.id ?? '', entries: [event('C')] })
    const order = [0, 1, 2, 3, 4, 5]
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0 ? a.commit(order.map(cancel)) : b.commit(order.toReversed().map(cancel)),
      ),
    )

    expect(all.flatMap(({ results }) => results).every(isOk)).toBe(true)
    for (const { id } of sessions) expect(await a.head(id)).toBe(22)
  })
})

test('a file that a purge removes just now is refused, and no message loses it', async () => {
  const file = newFile()
  await done(a, addFile(file))
  const purge = new pg.Client({ connectionString: database.url })
  await purge.connect()
  onTestFinished(() => purge.end())
  await purge.query(`BEGIN; DELETE FROM files WHERE id = '${file.id}'`)

  const sending = refusal(b, accept(newSession(), { files: [file.id] }))
  const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await expect.poll(() => askOnce(database.url, waiting), { timeout: 60_000 }).toEqual([{ n: 1 }])
  await purge.query('COMMIT')

  expect(await sending).toBe('file_not_found')
})

test('a process that was paused in a transaction loses it, and others go on', async () => {
  const run = await acceptedRun(a, accept(newSession()))
  // What a paused process leaves: a transaction that holds the lock of the session.
  const held = askOnce(
    database.url,
    `SET idle_in_transaction_session_timeout = '300ms'; BEGIN;
     SELECT 1 FROM heads WHERE session = '${run.sessionId}' FOR UPDATE; SELECT pg_sleep(0.5)`,
  ).catch((error: unknown) => error)

  expect(await done(b, append(run, [event('GOES_ON')], { sync: true }))).toMatchObject({ ok: true })
  await held
})

test('each process has its own chain of the audit trail', async () => {
  await Promise.all([a, b].map((store, i) => done(store, { type: 'add_audit', audit: [newAudit(`store ${i}`)] })))

  const ends = await a.audit.ends()
  expect(ends.filter(({ text: one }) => JSON.parse(one).by.startsWith('store ')).length).toBe(2)
})
