import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { PersonRecord, SupervisedApproval } from '../../domain/records/record.ts'
import { MOST_PERMISSIONS } from '../../domain/supervision/supervision.ts'
import { openEngine, testTool } from '../../engine/testing/open-engine.ts'
import type { SupervisedSession } from '../sessions/take-step.ts'
import { askElsewhere } from '../testing/ask-elsewhere.ts'
import { newSession, openSupervision } from '../testing/open-supervision.ts'
import { createInbox, type InboxPage } from './inbox.ts'

const by = { user: 'eve', role: 'operator' } as const

test('what begins to wait while the list is read comes once: in the list or after its cursor', async () => {
  const call = async () => ({ content: 'Wiped.', isError: false })
  const opened = openEngine({
    answers: [{ parts: [{ tool_call: { name: 'wipe' } }] }],
    tools: [testTool({ name: 'wipe', risk: 'high', effect: 'once', approval: { ask: 'always' }, call })],
  })
  onTestFinished(opened.close)
  const { approvals, feed, store, log, clock, start, events } = opened
  const ask = async (alias: string) => void (await events(await start('Hi', { session: { create: { alias } } })))
  await ask('a')
  /** Asks once more, before or after the list is read. */
  const asking = (when: 'before' | 'after') =>
    createInbox({
      feed,
      log,
      clock,
      store: {
        sessions: store.sessions,
        waits: {
          ...store.waits,
          async list(query) {
            const isFirst = query.wait === 'approval'
            if (when === 'before' && isFirst) await ask('b')
            const found = await store.waits.list(query)
            if (when === 'after' && isFirst) await ask('c')
            return found
          },
        },
      },
    })
  for (const when of ['before', 'after'] as const) {
    const { items, cursor } = await asking(when).list(by, { limit: 10 })
    const later = (await feed.items(cursor, 100)).filter(({ kind }) => kind === 'wait').map(({ id }) => id)
    const all = (await approvals.list({ by, status: 'pending', limit: 10 })).map(({ id }) => id)

    expect([...items.map(({ id }) => id), ...later].sort()).toEqual(all.sort())
  }
})

/** What agents of Ann ask, put into the store in short. */
function openAsked() {
  const { sessions, takeStep, store, log, feed, ids, clock } = openSupervision({ maxOpen: 1_000 })
  const inbox = createInbox({ store, log, feed, clock })
  const opened = new Map<string, SupervisedSession>()
  let asked = 0
  const sessionIn = async (folder: string) => {
    asked += 1
    // So many questions may wait in one session.
    const name = `${folder} ${Math.floor(asked / MOST_PERMISSIONS)}`
    const session = opened.get(name) ?? (await sessions.create(newSession(folder)))
    opened.set(name, session)
    return session
  }
  return {
    clock,
    ask: async (values: Partial<SupervisedApproval> = {}, folder = '/srv/shop') =>
      askElsewhere(takeStep, await sessionIn(folder), ids.uuid(), values),
    /** The same, answered already. */
    async put(asked: SupervisedApproval, count: number) {
      const answered = { status: 'rejected', decidedAt: clock.now(), decidedBy: 'ann', createdAt: clock.now() } as const
      const all = Array.from({ length: count }, () => ({ ...asked, ...answered, id: ids.uuid() }))
      await takeStep(asked.sessionId, () => ({ ask: all }))
    },
    reject: ({ id, sessionId }: SupervisedApproval) =>
      takeStep(sessionId, ({ at }) => {
        const answer = { waitId: id, at, by: 'ann', outcome: { type: 'rejected' as const, reason: null } }
        return { settle: [{ id, patch: {}, answer }] }
      }),
    list: (page: Partial<InboxPage> = {}) => inbox.list(by, { limit: 100, ...page }),
  }
}

const idsIn = ({ items }: { items: readonly PersonRecord[] }): string[] => items.map(({ id }) => id)

test('what is done comes in the order of the decisions, on all pages, and its age counts from the question', async () => {
  const { ask, reject, list, clock } = openAsked()
  const [a, b, c] = [await ask(), await ask(), await ask()]
  await clock.advance(60_000)
  const d = await ask()
  for (const one of [b, d, a, c]) {
    await clock.advance(1_000)
    await reject(one)
  }

  const inOrder = [c, a, d, b].map(({ id }) => id)
  expect(idsIn(await list({ status: 'done' }))).toEqual(inOrder)
  const first = await list({ status: 'done', limit: 2 })
  expect(idsIn(first)).toEqual(inOrder.slice(0, 2))
  expect(idsIn(await list({ status: 'done', limit: 2, before: first.next ?? undefined }))).toEqual(inOrder.slice(2))
  expect(idsIn(await list({ status: 'done', minAgeMs: 30_000 }))).toEqual([c, a, b].map(({ id }) => id))
})

test('a filter looks at all that waits, and so do the counts', async () => {
  const { ask, list, clock } = openAsked()
  const policy = await ask({ risk: 'critical', title: 'Accept .quarterdeck/policy.yaml' })
  for (let i = 0; i < 150; i += 1) {
    await clock.advance(1)
    await ask({ risk: i % 3 === 0 ? 'high' : 'low' })
  }
  const all = await list()
  expect(all.items[0]?.id).toBe(policy.id)
  expect(all).toMatchObject({ counts: { critical: 1, high: 50, low: 100 }, next: { risk: 'low' } })

  const found = await list({ q: 'POLICY' })
  expect([idsIn(found), found.counts, found.next]).toEqual([[policy.id], { critical: 1, high: 0, low: 0 }, null])
  expect(await list({ q: 'no such words' })).toMatchObject({ items: [], counts: { critical: 0, high: 0, low: 0 } })
  const high = await list({ risk: 'high', limit: 10 })
  expect(high.items.map((one) => 'risk' in one && one.risk)).toEqual(high.items.map(() => 'high'))
  expect(high).toMatchObject({ items: { length: 10 }, counts: { critical: 0, high: 50, low: 0 } })
})

test('filters by words, agents and folders, of what waits and of what is done', async () => {
  const { ask, reject, list, clock } = openAsked()
  const shop = await ask({ title: 'Run deploy', tool: 'Bash', arguments: '{}' })
  await clock.advance(1)
  const blog = await ask(
    { supervised: { ...shop.supervised, host: 'codex', contentKey: 'other' }, risk: 'high' },
    '/srv/web/blog',
  )
  const filters: [Partial<InboxPage>, SupervisedApproval[]][] = [
    [{}, [blog, shop]],
    [{ q: 'DEPLOY' }, [shop]],
    [{ q: '/web/BLOG' }, [blog]],
    [{ q: shop.id.slice(4) }, [shop]],
    [{ q: 'bash' }, [blog, shop]],
    [{ q: 'ann' }, [blog, shop]],
    [{ q: '%' }, []],
    [{ q: '\u0000' }, []],
    [{ agent: 'codex' }, [blog]],
    [{ agent: 'cod' }, []],
    [{ folder: '/srv/web/blog' }, [blog]],
    [{ folder: 'blog' }, [blog]],
    [{ folder: 'log' }, []],
    [{ folder: 'shop', q: 'deploy' }, [shop]],
    [{ folder: 'blog', q: 'deploy' }, []],
  ]
  for (const [filter, expected] of filters) {
    expect([filter, idsIn(await list(filter))]).toEqual([filter, expected.map(({ id }) => id)])
  }
  await reject(shop)
  await reject(blog)
  for (const [filter, expected] of filters) {
    const done = await list({ ...filter, status: 'done' })
    // The newest is the first of them here too.
    expect([filter, idsIn(done), done.counts]).toEqual([filter, expected.map(({ id }) => id), null])
  }
})

test('a filter that fits little of what is done goes on where a page has ended', async () => {
  const { ask, put, reject, list, clock } = openAsked()
  const first = await ask({ title: 'Run deploy' })
  await reject(first)
  for (let i = 0; i < 6; i += 1) {
    await clock.advance(1)
    await put({ ...first, title: 'Run test' }, 1_000)
  }
  const short = await list({ status: 'done', q: 'deploy', limit: 5 })
  expect(short.items).toEqual([])
  const rest = await list({ status: 'done', q: 'deploy', limit: 5, before: short.next ?? undefined })
  expect([idsIn(rest), rest.next]).toEqual([[first.id], null])
})

test('whoever walks the pages sees once what waits all the time, whatever comes and goes meanwhile', async () => {
  const item = fc.record({
    risk: fc.constantFrom('critical' as const, 'high' as const, 'low' as const),
    expiresIn: fc.constantFrom(null, 1_000, 1_010, 100_000),
  })
  const meanwhile = fc.record({
    asked: fc.array(item, { maxLength: 3 }),
    decided: fc.array(fc.nat(), { maxLength: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(item, { minLength: 1, maxLength: 12 }),
      fc.array(meanwhile, { maxLength: 6 }),
      fc.integer({ min: 1, max: 4 }),
      async (items, steps, limit) => {
        const { ask, reject, list, clock } = openAsked()
        const put = async ({ risk, expiresIn }: (typeof items)[number]) => {
          await clock.advance(1)
          return ask({ risk, expiresAt: expiresIn === null ? null : clock.now() + expiresIn })
        }
        const open: SupervisedApproval[] = []
        for (const one of items) open.push(await put(one))
        const lasting = new Set(open.map(({ id }) => id))
        const seen: string[] = []
        let step = 0
        for (let before: InboxPage['before']; ; ) {
          const page = await list({ limit, before })
          seen.push(...idsIn(page))
          if (page.next === null) break
          before = page.next
          const { asked = [], decided = [] } = steps[step++] ?? {}
          for (const one of asked) open.push(await put(one))
          for (const nth of decided) {
            const [gone] = open.splice(nth % Math.max(open.length, 1), 1)
            if (gone === undefined) continue
            lasting.delete(gone.id)
            await reject(gone)
          }
        }
        expect(new Set(seen).size).toBe(seen.length)
        expect([...lasting].filter((id) => !seen.includes(id))).toEqual([])
      },
    ),
    { numRuns: 20 },
  )
})
