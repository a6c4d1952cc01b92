// What was shown is what runs, with the real program, real files and real servers. Everything that a tool consists of changes, and
// so do its keys: between a question and its approval, between an approval and its call, and under a grant.

import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../src/domain/clock.ts'
import { createIds } from '../../src/domain/ids.ts'
import type { RunRecord } from '../../src/domain/session/run.ts'
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { type BoundTools, openBoundTools, type Time } from './support/bound-tools.ts'
import { approvals, OPERATOR_TOKEN, operatorEnv, type ShownApproval } from './support/operator.ts'
import { runInput } from './support/run-input.ts'
import { record } from './support/sse-recorder.ts'
import { openYard, type TestServer } from './support/start-server.ts'
import { until } from './support/until.ts'

const LONG = { timeout: 600_000 }
const PATIENCE_MS = 180_000
const headers = { Authorization: `Bearer ${OPERATOR_TOKEN}` }

async function openHouse() {
  const tools = await openBoundTools()
  onTestFinished(() => tools.close())
  const yard = await openYard(onTestFinished)
  return {
    yard,
    tools,
    async start(time: Time) {
      const env = await tools.write(yard.directory, time)
      return yard.start({ env: { ...operatorEnv, ...env } })
    },
  }
}

type Shown = ShownApproval & { digest: string; reason: string | null }

const all = async ({ url }: TestServer) => (await approvals(url)) as Shown[]

/** The pending approvals by tool. */
const pending = async (server: TestServer): Promise<Map<string, Shown>> =>
  new Map((await all(server)).filter(({ status }) => status === 'pending').map((one) => [one.tool, one]))

/** Lets the agent call every tool in a new thread. */
async function doEverything({ url }: TestServer, thread: string): Promise<void> {
  await record({ url, method: 'POST', body: runInput(thread, thread, 'Do everything.') }).done
}

async function answer({ url }: TestServer, { approval_id }: Shown, more: Record<string, unknown> = {}) {
  const body = { decision: 'approve', ...more }
  const answered = await record({ url: `${url}/approvals/${approval_id}`, method: 'POST', headers, body }).done
  return { status: answered.status, body: JSON.parse(answered.body) as Record<string, unknown> }
}

const told = ({ tools }: { tools: BoundTools }, names: readonly string[]) =>
  tools.done().filter((line) => names.includes(line.split(':')[0] ?? ''))

const namesOf = (lines: readonly string[]): string[] => lines.map((line) => line.split(':')[0] ?? '')

test('a change between a question and its approval is asked about again, a new key is not', LONG, async () => {
  const house = await openHouse()
  const { changing, keeping } = house.tools
  const before = await house.start('before')
  await doEverything(before, 'one')
  const first = await pending(before)
  expect([...first.keys()].sort()).toEqual([...changing, ...keeping].sort())
  await before.kill()

  const after = await house.start('after')
  const refused: Record<string, unknown> = {}
  for (const name of changing) {
    const old = first.get(name)
    if (old === undefined) throw new Error(`${name} was not asked about`)
    const { status, body } = await answer(after, old, { digest: old.digest })
    refused[name] = [status, body.code, body.approval_id === (await pending(after)).get(name)?.approval_id]
  }
  expect(refused).toEqual(Object.fromEntries(changing.map((name) => [name, [409, 'approval_changed', true]])))
  expect(house.tools.done()).toEqual([])
  const replaced = (await all(after)).filter(({ status }) => status === 'interrupted')
  expect(
    replaced.map(({ tool, reason }) => [tool, reason?.startsWith('Its tool or the rules have changed.')]).sort(),
  ).toEqual(changing.map((name) => [name, true]).sort())

  // Unchanged calls are answered with the digest shown first, changed ones with the digest shown now.
  const now = await pending(after)
  for (const name of keeping) expect(now.get(name)).toMatchObject({ digest: first.get(name)?.digest })
  for (const question of now.values()) {
    expect([question.tool, (await answer(after, question, { digest: question.digest })).status]).toEqual([
      question.tool,
      200,
    ])
  }
  const names = [...changing, ...keeping].sort()
  await until('all is done', () => house.tools.done().length >= names.length, PATIENCE_MS)
  expect(namesOf(house.tools.done())).toEqual(names)
  expect(after.log().match(/an approval is asked for again/g)).toHaveLength(changing.length)
})

test('a change between an approval and its call is asked about again, a new key is not', LONG, async () => {
  const house = await openHouse()
  const { changing, keeping } = house.tools
  const before = await house.start('before')
  await doEverything(before, 'one')
  const first = [...(await pending(before)).values()]
  await before.kill()
  // The moment right after the approval: it is on disk, and nothing else has happened.
  await approveInStore(join(house.yard.dataDir, 'quarterdeck.db'), first)

  const after = await house.start('after')
  await until(
    'the run has done what it may and waits for the rest',
    async () => (await pending(after)).size === changing.length && house.tools.done().length >= keeping.length,
    PATIENCE_MS,
  )

  expect(namesOf(house.tools.done())).toEqual([...keeping].sort())
  expect([...(await pending(after)).keys()].sort()).toEqual([...changing].sort())
})

test('a grant ends with each change, and not with a new key', LONG, async () => {
  const house = await openHouse()
  const { changing, keeping } = house.tools
  const names = [...changing, ...keeping].sort()
  const before = await house.start('before')
  await doEverything(before, 'one')
  for (const question of (await pending(before)).values()) await answer(before, question, { remember: 'always' })
  await until('all is done', () => house.tools.done().length >= names.length, PATIENCE_MS)
  const original = house.tools.done()
  house.tools.forget()
  await doEverything(before, 'two')
  // With the grants nobody is asked.
  expect([house.tools.done(), (await pending(before)).size]).toEqual([original, 0])
  house.tools.forget()
  await before.kill()

  const after = await house.start('after')
  await doEverything(after, 'three')

  expect(namesOf(told(house, names))).toEqual([...keeping].sort())
  expect([...(await pending(after)).keys()].sort()).toEqual([...changing].sort())
  const granted = async () => {
    const { body } = await record({ url: `${after.url}/grants`, headers }).done
    return (JSON.parse(body).grants as { tool: string }[]).map(({ tool }) => tool).sort()
  }
  await until(
    'what has changed is granted no more',
    async () => (await granted()).length === keeping.length,
    PATIENCE_MS,
  )
  expect(await granted()).toEqual([...keeping].sort())
  await until(
    'each is in the log',
    () => after.log().match(/a grant has ended/g)?.length === changing.length,
    PATIENCE_MS,
  )
})

/** Stores an approval as the server does: one command, with the run that goes on. The process that would run it is gone. */
async function approveInStore(path: string, questions: readonly Shown[]): Promise<void> {
  const clock = createSystemClock()
  const ids = createIds(clock.now)
  const fatal = (error: Error) => {
    throw error
  }
  const store = createSqliteStore({ path, fatal })
  const waiting = await store.runs.get(questions[0]?.run_id ?? '')
  const session = await store.sessions.get(questions[0]?.session_id ?? '')
  if (waiting === null || session === null) throw new Error('nothing waits')
  const id = ids.uuid()
  const now = clock.now()
  const run: RunRecord = {
    ...waiting,
    id,
    wireId: id,
    parentRunId: waiting.wireId,
    status: 'queued',
    origin: 'answer',
    input: { ...waiting.input, messages: [] },
    createdAt: now,
    startedAt: null,
    finishedAt: null,
    firstSeq: null,
    lastSeq: null,
    fence: 0,
    leaseOwner: null,
  }
  const approved = { type: 'approved', reason: null, editedArguments: null, editedDigest: null } as const
  const started = { type: 'RUN_STARTED', threadId: session.alias ?? session.id, runId: id, timestamp: now }
  const { results, synced } = await store.commit([
    {
      type: 'accept_run',
      session,
      run,
      leaseOwner: 'a process that died',
      onBusy: 'queue',
      maxQueued: 8,
      maxSessions: null,
      whenWaiting: 'refuse',
      answers: questions.map(({ approval_id }) => ({ waitId: approval_id, at: now, by: 'ada', outcome: approved })),
      acceptEntries: [],
      start: { entries: [{ kind: 'event', data: JSON.stringify(started) }], messages: [] },
    },
  ])
  await synced
  expect(results).toMatchObject([{ ok: true, answered: questions.map(() => ({ applied: true })) }])
  await store.close()
}
