// The server is killed, runs out of disk or is away. It is a server of its own, because it is really killed.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../test/postgres/server.ts'
import { askOnce } from '../../../test/postgres/test-database.ts'
import {
  accept,
  acceptedRun,
  append,
  auditors,
  done,
  event,
  finish,
  newAudit,
  newSession,
  text,
} from '../contract/samples.contract.ts'
import type { PostgresStore } from './postgres-store.ts'
import { openTestPostgres } from './testing/open-postgres.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(() => server.discard())

async function open(writerId: string, waitMs = 20_000): Promise<PostgresStore> {
  const store = await openTestPostgres(server.url, { writerId, waitMs })
  onTestFinished(() => store.close())
  return store
}

async function crash(): Promise<void> {
  await server.kill()
  await server.start()
}

const LAST_TEXT = ['one', 'two', 'three', 'four']

test('text that a crash took is written again at the same seqs, and nothing else is', async () => {
  const store = await open('survivor')
  const run = await acceptedRun(store, accept(newSession()))
  const other = await acceptedRun(store, accept(newSession()))
  await server.holdText()
  const seqs: number[] = []
  for (const delta of LAST_TEXT) {
    const { firstSeq } = await done(store, append(run, [text(delta)]))
    seqs.push(firstSeq)
    await done(store, append(other, [text(delta), text(delta)]))
  }
  await crash()
  expect(await lastSeqs(run.sessionId)).toEqual([2])

  const { firstSeq } = await done(store, append(run, [text('five')]))

  const entries = await store.entries(run.sessionId, 2, 100)
  expect(entries.map(({ data }) => JSON.parse(data).delta)).toEqual([...LAST_TEXT, 'five'])
  expect(entries.map(({ seq }) => seq)).toEqual([...seqs, firstSeq])
  // Another process may have written at the next seq meanwhile, so it was not used.
  expect(firstSeq).toBeGreaterThan(10_000)
  expect((await store.entries(other.sessionId, 2, 100)).length).toBe(8)
})

test('the text of a run that another process took over meanwhile is not written again', async () => {
  const [one, two] = [await open('first'), await open('second')]
  const run = await acceptedRun(one, accept(newSession()))
  await server.holdText()
  await done(one, append(run, [text('seen, and lost')]))
  await crash()

  const claim = {
    type: 'claim_run',
    runId: run.id,
    fence: run.fence,
    leaseOwner: 'b',
    entries: [event('TAKEN')],
  } as const
  const { firstSeq } = await done(two, claim)
  const { results } = await one.commit([append(run, [text('late')])])

  expect(results[0]).toMatchObject({ ok: false, error: { code: 'run_fenced' } })
  expect((await two.entries(run.sessionId, 2, 10)).map(({ seq }) => seq)).toEqual([firstSeq])
  expect(firstSeq).toBeGreaterThan(10_000)
})

test('whoever reads at another process misses nothing of what a crash took', async () => {
  const [owner, other] = [await open('owner'), await open('other')]
  const run = await acceptedRun(owner, accept(newSession(), { leaseOwner: 'owner' }))
  const queued = await acceptedRun(other, accept(newSession({ id: run.sessionId })))
  const seen = await other.entries(run.sessionId, 0, 100)
  const look = async () => seen.push(...(await other.entries(run.sessionId, seen.at(-1)?.seq ?? 0, 100)))
  for (const delta of LAST_TEXT) await done(owner, append(run, [text(delta)]))
  await crash()

  // A message, and the end of one that waits, at the process that comes back first. They are refused as long as they would stand
  // behind what is missing.
  const commands = [accept(newSession({ id: run.sessionId })), finish(queued, { status: 'cancelled' })]
  const { results: early } = await other.commit(commands)
  await look()
  await done(owner, { type: 'renew_lease', leaseOwner: 'owner', until: 0, endOthers: false })
  for (const [i, command] of commands.entries()) if (early[i]?.ok === false) await done(other, command)
  await look()
  await done(owner, append(run, [text('five')]))
  await look()

  const deltas = seen.map(({ data }) => JSON.parse(data).delta ?? null)
  expect(deltas).toEqual([null, null, null, ...LAST_TEXT, null, null, 'five'])
  expect(seen).toEqual(await other.entries(run.sessionId, 0, 100))
  const refused = { ok: false, error: { code: 'storage_failed' } }
  expect(early).toMatchObject([refused, refused])
})

test('what is of the synced class survives the crash of everything', async () => {
  const store = await open('dies too')
  const session = newSession({ alias: 'kept' })
  const run = await acceptedRun(store, accept(session))
  await done(store, append(run, [text('in flight')]))
  await done(store, append(run, [event('FACT')], { sync: true, audit: [newAudit('kept')] }))
  await server.holdText()
  await done(store, append(run, [text('in flight again')]))
  await server.kill()
  await Promise.all([store.close(), server.start()])

  const after = await open('new')
  expect((await after.sessions.byAlias(session.owner, 'kept'))?.id).toBe(session.id)
  expect((await after.entries(session.id, 0, 10)).length).toBe(4)
  expect(await auditors(after)).toContain('kept')
  expect((await after.runs.get(run.id))?.status).toBe('running')
})

test('commits wait for a server that is away, and fail if it stays away', async () => {
  const store = await open('patient')
  const run = await acceptedRun(store, accept(newSession()))
  await server.stop()
  const waiting = store.commit([append(run, [text('waited')])])
  const reading = store.runs.get(run.id)
  await server.start()
  expect((await waiting).results).toMatchObject([{ ok: true }])
  expect((await reading)?.id).toBe(run.id)

  const hasty = await open('hasty', 1_500)
  await server.stop()
  await expect(hasty.commit([append(run, [text('refused')])])).rejects.toMatchObject({ code: 'storage_failed' })
  await expect(hasty.runs.get(run.id)).rejects.toMatchObject({ code: 'storage_failed' })
  await expect(hasty.check()).rejects.toMatchObject({ code: 'storage_failed' })
  expect(hasty.database.isUp).toBe(false)
  await server.start()
  await expect.poll(() => hasty.check().then(() => 'up')).toBe('up')
  expect(hasty.database.isUp).toBe(true)
  const { results } = await hasty.commit([finish(run)])
  expect(results).toMatchObject([{ ok: true }])
  const deltas = (await hasty.entries(run.sessionId, 2, 10)).map(({ data }) => JSON.parse(data).delta)
  expect(deltas).toEqual(['waited', undefined])
})

test('a full disk refuses what needs space and loses nothing', async () => {
  const store = await open('full')
  const run = await acceptedRun(store, accept(newSession()))
  await askOnce(
    server.url,
    `CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
     CREATE TRIGGER no_space BEFORE INSERT ON entries FOR EACH STATEMENT EXECUTE FUNCTION no_space()`,
  )
  const group = [append(run, [text('a')]), append(run, [text('b')], { sync: true })]
  await expect(store.commit(group.slice(0, 1))).rejects.toMatchObject({ code: 'storage_full' })
  await expect(store.commit(group)).rejects.toMatchObject({ code: 'storage_full' })
  expect(await store.head(run.sessionId)).toBe(2)

  await askOnce(server.url, 'DROP TRIGGER no_space ON entries')
  const { results } = await store.commit(group)
  expect(results.map((result) => result.ok && result.firstSeq)).toEqual([3, 4])
})

async function lastSeqs(session: string): Promise<number[]> {
  const rows = await askOnce(server.url, `SELECT last_seq::int FROM entries WHERE session = '${session}' ORDER BY 1`)
  return rows.map(({ last_seq }) => Number(last_seq))
}
