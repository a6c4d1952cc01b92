import { expect, test } from 'vitest'
import { isoTime } from '../../domain/clock.ts'
import type { SupervisedApproval } from '../../domain/records/record.ts'
import {
  accept,
  acceptedRun,
  askedElsewhere,
  done,
  finish,
  NOW,
  newApproval,
  newMessage,
  newSession as ownSession,
} from '../../store/contract/samples.contract.ts'
import type { Store } from '../../store/store.ts'
import { createReports } from '../agent-service/report.ts'
import { createInbox } from '../inbox/inbox.ts'
import { askElsewhere } from '../testing/ask-elsewhere.ts'
import { noMessenger } from '../testing/no-messenger.ts'
import { agentIn, ann, callOf, newSession, openSupervision } from '../testing/open-supervision.ts'
import { describeInShort } from './describe-record.ts'
import { createReadScenes } from './record-scenes.ts'

const HOUR = 3_600_000

function openScenes() {
  const opened = openSupervision({ maxOpen: 1_000 })
  const { store, clock, takeStep, ids } = opened
  const readScenes = createReadScenes({ store, clock })
  const ask = async (folder: string, values: Partial<SupervisedApproval> = {}) =>
    askElsewhere(takeStep, await opened.sessions.create(newSession(folder)), ids.uuid(), {
      expiresAt: null,
      ...values,
    })
  return {
    ...opened,
    readScenes,
    ask,
    /** A like question that was decided. */
    async decided(
      folder: string,
      outcome: 'approved' | 'rejected',
      reason: string | null = null,
      by = 'ada',
      more = {},
    ) {
      const { id: waitId, sessionId } = await ask(folder, more)
      const rest = outcome === 'approved' ? { editedArguments: null, editedDigest: null } : {}
      await takeStep(sessionId, ({ at }) => ({
        settle: [
          { id: waitId, patch: {}, answer: { waitId, at, by, outcome: { type: outcome, reason, ...rest } as never } },
        ],
      }))
      await clock.advance(HOUR)
    },
    async contextOf(record: SupervisedApproval) {
      return describeInShort(record, (await readScenes([record]))(record)).context
    },
  }
}

test('what was decided about the like before is one sentence', async () => {
  const { ask, decided, contextOf } = openScenes()
  const before = async (folder = '/srv/shop', values: Partial<SupervisedApproval> = {}) =>
    (await contextOf(await ask(folder, values))).before
  expect(await before()).toBe(null)

  await decided('/srv/shop', 'rejected', 'too broad')
  expect(await before()).toBe('Rejected once in this folder by ada 1 h ago: too broad')
  await decided('/srv/shop', 'approved')
  await decided('/srv/shop', 'approved', 'Fine.', 'bob')
  expect(await before()).toBe('Approved 2 times, rejected once in this folder, last approved by bob 1 h ago')
  // No person decided these.
  await decided('/srv/shop', 'rejected', null, 'policy')
  expect(await before()).toMatch(/^Approved 2 times, rejected once /)
  // The same first words are alike. Another folder, owner, tool, agent or command is not.
  expect(await before('/srv/shop', { arguments: '{"command":"npm  test --all"}' })).toMatch(/^Approved 2 times/)
  expect(await before('/srv/shop', { arguments: '{"command":"npm publish"}' })).toBe(null)
  expect(await before('/srv/other')).toBe(null)
  expect(await before('/srv/shop', { tool: 'Shell' })).toBe(null)
  expect(await before('/srv/shop', { supervised: { ...askedElsewhere, host: 'codex' } })).toBe(null)
})

test('an agent elsewhere has what it was told last, what it reported last, and since when it stands still', async () => {
  const { ask, contextOf, sessions, clock, parts } = openScenes()
  expect(await contextOf(await ask('/srv/shop'))).toMatchObject({
    request: 'Go',
    said: null,
    tool: 'Runs a shell command',
  })

  const reports = createReports({ ...parts, stallsEnabled: true, messenger: noMessenger })
  const agent = agentIn('/srv/blog')
  await reports.heartbeat(callOf(agent), { status_message: 'Tests run.' })
  await reports.remote_log(callOf(agent), { message: `Now\n the docs. ${'x'.repeat(1_000)}` })
  const { id } = await sessions.attach(agent)
  await sessions.steer(ann, id, 'Write a poem.')
  const record = await askElsewhere(parts.takeStep, { id }, parts.ids.uuid())
  expect(await contextOf(record)).toMatchObject({ request: null, still_since: isoTime(record.createdAt) })
  await clock.advance(1_000)
  // It has its orders with this answer, and shows that it does not stand still.
  await reports.heartbeat(callOf(agent), {})

  expect(await contextOf(record)).toMatchObject({
    request: 'Write a poem.',
    said: expect.stringMatching(/^Now the docs\. x{186}…$/),
    still_since: isoTime(record.createdAt + 1_000),
  })
})

/** Every read of the store, by its name. On Postgres each of them is one statement. */
function counted(store: Store): { store: Store; reads: string[] } {
  const reads: string[] = []
  const watched = (name: string, part: object): object =>
    new Proxy(part, {
      get(target, key, receiver) {
        const value: unknown = Reflect.get(target, key, receiver)
        if (typeof value !== 'function') return value
        return (...values: unknown[]) => {
          reads.push(`${name}.${String(key)}`)
          return Reflect.apply(value, target, values)
        }
      },
    })
  const parts = { waits: store.waits, sessions: store.sessions, messages: store.messages }
  const seen = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, watched(name, part)]))
  return { store: { ...store, ...seen } as Store, reads }
}

test('a page of 50 items of 50 sessions costs a handful of reads', async () => {
  const { ask, decided, store: real, clock, log, feed } = openScenes()
  for (let i = 0; i < 10; i += 1) await decided('/srv/shop', 'approved')
  for (let i = 0; i < 25; i += 1) {
    await ask('/srv/shop')
    const session = ownSession({ owner: 'ann' })
    const messages = [newMessage('q', { content: `Request ${i}`, createdAt: NOW })]
    const run = await acceptedRun(real, accept(session, { start: { messages } }))
    await done(real, finish(run, { status: 'waiting', waits: [newApproval(run)] }))
  }
  const { store, reads } = counted(real)
  const { items } = await createInbox({ store, log, feed, clock }).list(
    { user: 'eve', role: 'operator' },
    { limit: 50 },
  )
  const sceneOf = await createReadScenes({ store, clock })(items)
  const contexts = items.map((item) => describeInShort(item, sceneOf(item)).context)

  expect(
    contexts.filter(({ before }) => before?.startsWith('Approved 10 times in this folder, last by ada')),
  ).toHaveLength(25)
  expect(contexts.filter(({ request }) => request?.startsWith('Request '))).toHaveLength(25)
  expect(reads).toEqual([
    ...Array.from({ length: 4 }, () => 'waits.list'),
    ...Array.from({ length: 3 }, () => 'waits.list'),
    'sessions.overview',
    'messages.lastWords',
  ])
})
