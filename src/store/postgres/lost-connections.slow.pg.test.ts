// The connection breaks at any message of any transaction, before or after the server has got it. Everything is done once.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../../../test/postgres/tcp-proxy.ts'
import { openTestDatabase, type TestDatabase } from '../../../test/postgres/test-database.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import {
  accept,
  append,
  approve,
  done,
  event,
  finish,
  newApproval,
  newAudit,
  newMessage,
  newSession,
  text,
} from '../contract/samples.contract.ts'
import type { Store } from '../store.ts'
import { openTestPostgres } from './testing/open-postgres.ts'

let database: TestDatabase
let proxy: TcpProxy

beforeAll(async () => {
  database = await openTestDatabase()
  proxy = await startTcpProxy(database.url)
})

afterAll(async () => {
  await proxy.close()
  await database.drop()
})

const open = (url: string, writerId: string) => openTestPostgres(url, { writerId })

/** A conversation with text, a question and an answer. Returns what can be read of it afterwards, without ids and times. */
async function converse(store: Store): Promise<unknown> {
  const session = newSession({ alias: crypto.randomUUID() })
  const key = { key: crypto.randomUUID(), digest: 'd', expiresAt: 2_000_000_000_000 }
  const first = await run(store, accept(session, { idempotency: key, start: { messages: [newMessage('m1')] } }))
  const a = await done(store, append(first, [text('one'), text('two')]))
  const b = await store.commit([append(first, [text('three')]), append(first, [text('four')])])
  const c = await done(store, append(first, [event('TOOL_CALL_END')], { sync: true, audit: [newAudit('tool')] }))
  const wait = newApproval(first)
  await done(store, finish(first, { status: 'waiting', waits: [wait], messages: [newMessage('m2')] }))
  const second = await run(store, accept(session, { answers: [approve(wait.id)] }))
  const d = await done(store, append(second, [text('five')]))
  await done(store, finish(second, { usage: [{ provider: 'p', model: 'm', inputTokens: 1, outputTokens: 2 }] }))
  const entries = await store.entries(session.id, 0, 100)
  return {
    answered: [a, ...b.results, c, d],
    entries: entries.map(({ seq, kind, data }) => [seq, kind, data]),
    runs: (await store.runs.list(session.id)).map(({ status, fence, firstSeq, lastSeq }) => [
      status,
      fence,
      firstSeq,
      lastSeq,
    ]),
    messages: (await store.messages.all(session.id)).map(({ id }) => id),
    waits: (await store.waits.list({ sessionId: session.id, limit: 10 })).map(({ status }) => status),
    usage: await store.usage.totals({ from: 0, to: 1_000_000, sessionId: session.id }),
    audit: (await store.audit.newest(null, 1)).map(({ text: one }) => JSON.parse(one).by),
    session: (await store.sessions.get(session.id))?.messageCount,
  }
}

async function run(store: Store, command: ReturnType<typeof accept>): Promise<RunRecord> {
  const { run: accepted, existing } = await done(store, command)
  if (accepted === undefined || existing === true) throw new Error('The run was there already.')
  return accepted
}

/** Every n-th message. All of them with LONG=1. */
const STEP = process.env.LONG === '1' ? 1 : 13

test.each(['before', 'after'] as const)(
  'a connection that breaks %s a message is received loses nothing and repeats nothing',
  async (when) => {
    // The last break of the test before may not have come to pass.
    proxy.breakAt(Number.POSITIVE_INFINITY, when)
    const writerId = crypto.randomUUID()
    const calm = await open(proxy.url, writerId)
    const began = proxy.messages
    const expected = await converse(calm)
    const messages = proxy.messages - began
    await calm.close()
    expect(messages).toBeGreaterThan(50)

    const store = await open(proxy.url, writerId)
    await converse(store)
    for (let n = 1; n <= messages; n += STEP) {
      proxy.breakAt(n, when)
      expect(await converse(store), `broken at message ${n} of ${messages}`).toEqual(expected)
    }
    await store.close()
  },
  300_000,
)
