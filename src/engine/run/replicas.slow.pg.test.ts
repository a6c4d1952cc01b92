// Two engines on one real Postgres, each with connections of its own, as two replicas have them.

import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../domain/clock.ts'
import { silentLogger } from '../../domain/logger.ts'
import type { Entry } from '../../domain/session/entry.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { createNotifiedWake } from '../../log/notified-wake.ts'
import type { ScriptedOptions } from '../../models/scripted/scripted.ts'
import { create, newSession } from '../../store/contract/samples.contract.ts'
import { createReaderRows } from '../../store/postgres/reader-rows.ts'
import { openTestPostgres } from '../../store/postgres/testing/open-postgres.ts'
import type { AcceptedRun } from '../ports/runs.ts'
import { createSharedPresence } from '../sessions/shared-presence.ts'
import { openEngine, outline, type TestEngineOptions, testAgent, testTool } from '../testing/open-engine.ts'
import { openJanitor } from '../testing/open-janitor.ts'

const clock = createSystemClock()
const operator: Caller = { user: 'ada', role: 'operator' }
let database: TestDatabase
let opened: { close(): Promise<void> }[] = []
let count = 0

beforeAll(async () => {
  database = await openTestDatabase()
})
afterEach(async () => {
  for (const one of opened) await one.close()
  opened = []
})
afterAll(() => database.drop())

async function openReplica(options: TestEngineOptions) {
  count += 1
  const replica = `replica-${count}`
  const store = await openTestPostgres(database.url, { clock, writerId: replica })
  const { statements, notifications } = store.database
  const rows = createReaderRows(statements, store.time.nowForOthers)
  const wake = createNotifiedWake({ notifications, clock, replica, findOthers: () => rows.others(replica) })
  const isAlone = () => wake.isAlone
  const presence = createSharedPresence({ rows, replica, clock, logger: silentLogger, isAlone })
  const sharing = { leaseOwner: replica, isOnlyProcess: false, otherProcesses: () => wake.others }
  const parts = openEngine({ clock, store, wake, presence, ...sharing, ...options })
  await parts.engine.recover()
  let isClosed = false

  async function close(): Promise<void> {
    if (isClosed) return
    isClosed = true
    await parts.engine.drain(0)
    await presence.close()
    wake.close()
    await parts.close()
  }

  /** As kill -9 leaves it: nobody renews its lease, which is over by now, and it writes nothing more. */
  async function die(): Promise<void> {
    isClosed = true
    await parts.engine.close()
    wake.close()
    await store.database.close()
    await askOnce(database.url, `UPDATE leases SET until = 0 WHERE owner = '${replica}'`)
  }

  opened.push({ close })
  return { ...parts, replica, die, close }
}

async function openTwo(first: TestEngineOptions, second: ScriptedOptions['answers']) {
  const a = await openReplica(first)
  const b = await openReplica({ ...first, answers: second })
  return { a, b }
}

type Replica = Awaited<ReturnType<typeof openReplica>>

/** All that a reader of the run is shown at this replica, to its end. */
async function read({ engine }: Replica, { run, session }: AcceptedRun, after = 0): Promise<Entry[]> {
  const seen: Entry[] = []
  const target = { sessionId: session.id, runId: run.id, after }
  for await (const batch of engine.runs.follow(target, new AbortController().signal)) seen.push(...batch)
  return seen
}

const eventsIn = (entries: readonly Entry[]) =>
  entries.filter(({ kind }) => kind === 'event').map(({ data }) => JSON.parse(data))
const inNewSession = { session: { create: {} } }
const slow: ScriptedOptions['answers'] = [
  { parts: Array.from({ length: 20 }, (_, i) => ({ text: `${i} `, delay_ms: 10 })) },
]
const endless: ScriptedOptions['answers'] = [{ parts: [{ text: 'Half' }, { hang: true }] }]
const whole: ScriptedOptions['answers'] = [{ parts: [{ text: 'Whole.' }] }]

test('a reader at one replica follows a run at the other, event by event', async () => {
  const { a, b } = await openTwo({ answers: slow }, whole)
  const accepted = await a.start('go', { ...inNewSession, origin: 'reader' })

  const [here, there] = await Promise.all([read(a, accepted), read(b, accepted)])

  expect(there).toEqual(here)
  expect(new Set(there.map(({ seq }) => seq)).size).toBe(there.length)
  const texts = eventsIn(there).flatMap(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? [delta] : []))
  expect(texts.join('')).toBe(Array.from({ length: 20 }, (_, i) => `${i} `).join(''))
  expect(outline(eventsIn(there)).at(-1)).toBe('RUN_FINISHED success')
})

test('a cancel, and a newer run that interrupts, reach the run at the other replica', async () => {
  const { a, b } = await openTwo({ answers: endless }, whole)
  const first = await a.start('go', inNewSession)
  const cancelled = read(b, first)
  await b.engine.runs.cancel(first.run, 'alice')
  expect(outline(eventsIn(await cancelled)).at(-1)).toBe('RUN_FINISHED cancelled')

  const second = await a.start('go', { session: { existing: first.session } })
  const third = await b.start('no, this', { session: { existing: first.session }, onBusy: 'interrupt' })
  expect(outline(eventsIn(await read(b, second))).at(-1)).toBe('RUN_FINISHED cancelled')
  // Whoever hears first begins it, and the first replica never ends an answer.
  await b.engine.runs.cancel(third.run, 'alice')
  expect(outline(eventsIn(await read(a, third)))[0]).toBe('RUN_STARTED')
})

test('an answer at one replica continues a run that asked at the other', async () => {
  const calls: string[] = []
  const act = testTool({
    name: 'act',
    approval: { ask: 'always' },
    async call() {
      calls.push('act')
      return { content: 'done', isError: false }
    },
  })
  const asking: ScriptedOptions['answers'] = [{ parts: [{ tool_call: { name: 'act' } }] }]
  const { a, b } = await openTwo({ tools: [act], answers: asking }, whole)
  const accepted = await a.start('go', inNewSession)
  await read(a, accepted)
  const [wait] = await b.store.waits.list({ sessionId: accepted.session.id, wait: 'approval', limit: 2 })
  if (wait === undefined) expect.fail('nothing was asked')

  const { run } = await b.approvals.decide(operator, wait.id, { decision: 'approve' })

  const seen = outline(eventsIn(await read(a, { ...accepted, run })))
  expect(seen.filter((line) => line.startsWith('TOOL_CALL_RESULT') || line.startsWith('RUN_'))).toEqual([
    'RUN_STARTED',
    'TOOL_CALL_RESULT done',
    'RUN_FINISHED success',
  ])
  expect(calls).toEqual(['act'])
})

test('when a replica dies, the other one goes on, and a reader sees each event once', async () => {
  const { a, b } = await openTwo({ answers: endless }, whole)
  const accepted = await a.start('go', inNewSession)
  const reading = read(b, accepted)
  const isTold = async () => (await b.store.head(accepted.session.id)) >= 4
  while (!(await isTold())) await new Promise((resolve) => setTimeout(resolve, 20))

  await a.die()
  const seen = await reading

  expect(await read(b, accepted)).toEqual(seen)
  const seqs = seen.map(({ seq }) => seq)
  expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other))
  expect(outline(eventsIn(seen)).filter((line) => line.startsWith('TEXT_MESSAGE_CONTENT'))).toEqual([
    'TEXT_MESSAGE_CONTENT Half',
    'TEXT_MESSAGE_CONTENT Whole.',
  ])
  expect(await b.store.runs.get(accepted.run.id)).toMatchObject({ status: 'completed', fence: 2 })
})

test('a replica that stops hands a run that is read live over', async () => {
  const { a, b } = await openTwo({ answers: endless }, whole)
  const accepted = await a.start('go', { ...inNewSession, origin: 'reader' })
  const here = read(a, accepted)
  const isTold = async () => (await b.store.head(accepted.session.id)) >= 4
  while (!(await isTold())) await new Promise((resolve) => setTimeout(resolve, 20))

  await a.close()
  const before = await here
  const rest = await read(b, accepted, before.at(-1)?.seq ?? 0)

  expect(outline(eventsIn(rest)).at(-1)).toBe('RUN_FINISHED success')
  expect([...before, ...rest]).toEqual(await read(b, accepted))
  expect(await b.store.runs.get(accepted.run.id)).toMatchObject({ status: 'completed', origin: 'reader' })
})

test('a purge takes everything that is old but what somebody works on, and that the next time', async () => {
  const { store, ...parts } = await openReplica({})
  const old = Array.from({ length: 450 }, (_, i) =>
    newSession({ agent: testAgent.name, createdAt: i, lastActivity: i }),
  )
  await store.commit(old.map(create))
  const purge = async () => {
    const sessions = { ttlSeconds: 1_800, retentionDays: 30 }
    await openJanitor({ ...parts, store, sessions, unsentFileSeconds: 60 }).sweep()
    const left = new Set((await askOnce(database.url, 'SELECT id FROM sessions')).map(({ id }) => id))
    return old.filter(({ id }) => left.has(id)).map(({ lastActivity }) => lastActivity)
  }
  const busy = new pg.Client({ connectionString: database.url })
  await busy.connect()
  await busy.query(`BEGIN; SELECT 1 FROM heads WHERE session = '${old[150]?.id}' FOR UPDATE`)

  expect(await purge()).toEqual([150])
  await busy.query('COMMIT')
  await busy.end()
  expect(await purge()).toEqual([])
})
