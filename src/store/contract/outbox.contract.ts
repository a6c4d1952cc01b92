import { describe, expect, test } from 'vitest'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { QueuedDelivery } from '../../domain/supervision/delivery.ts'
import type { Command } from '../ports/command.ts'
import { MOST_LINES, OUTBOX_ITEMS, type QueueLine, type SettleDelivery, type TakeDeliveries } from '../ports/outbox.ts'
import type { Store } from '../store.ts'
import {
  beforeAndAfter,
  commit,
  create,
  done,
  newApproval,
  newSession,
  type OpenStore,
  openForTest,
  refusal,
  remove,
  waitingSession,
} from './samples.contract.ts'

const item = (n: number, id = `run ${n}`): FeedItem => ({
  n,
  at: n,
  kind: 'run',
  id,
  sessionId: 'session',
  owner: 'ann',
  agent: 'assistant',
  status: 'running',
  parentRunId: null,
})

const items = (first: number, last: number): FeedItem[] =>
  Array.from({ length: last - first + 1 }, (_, i) => item(first + i))

const take = (values: Partial<TakeDeliveries>): TakeDeliveries => ({
  type: 'take_deliveries',
  channel: 'slack',
  after: null,
  upTo: 0,
  items: [],
  skipped: 0,
  ...values,
})

const settle = (n: number, outcome: SettleDelivery['outcome'], channel = 'slack'): SettleDelivery => ({
  type: 'settle_delivery',
  channel,
  n,
  outcome,
})

const delivered = (count = 1, ref: string | null = null) => ({ type: 'delivered', count, ref }) as const

/** Numbers of the items that wait, and what the summary counts. */
async function waiting(store: Store, channel = 'slack'): Promise<{ items: number[]; summary: number }> {
  const deliveries = await store.outbox.deliveries(channel)
  return {
    items: deliveries.flatMap(({ n, item: one }) => (one === null ? [] : [n])),
    summary: deliveries.find((one) => one.item === null)?.count ?? 0,
  }
}

export function describeOutbox(open: OpenStore): void {
  describe('the outbox', () => {
    test('keeps what a channel has to show, and how far it has looked', async () => {
      const { store, reopen } = await openForTest(open)
      expect([await store.outbox.cursor('slack'), await store.outbox.deliveries('slack')]).toEqual([null, []])
      await done(store, take({ upTo: 3 }))
      await done(store, take({ after: 3, upTo: 9, items: [item(5), item(8)], notBefore: { 5: 60 } }))
      await done(store, take({ channel: 'push', upTo: 5, items: [item(5)] }))
      await done(store, settle(8, { type: 'failed', nextTryAt: 77 }))

      const fresh = { count: 1, attempts: 0, nextTryAt: 0 }
      const expected: QueuedDelivery[] = [
        { ...fresh, channel: 'slack', n: 5, item: item(5), nextTryAt: 60 },
        { ...fresh, channel: 'slack', n: 8, item: item(8), attempts: 1, nextTryAt: 77 },
      ]
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.outbox.deliveries('slack')).toEqual(expected)
        expect(await current.outbox.deliveries('push')).toEqual([{ ...fresh, channel: 'push', n: 5, item: item(5) }])
        expect([await current.outbox.cursor('slack'), await current.outbox.cursor('push')]).toEqual([9, 5])
      }
    })

    test('loses nothing that was acknowledged in a power cut', async (context) => {
      const { store, powerCut } = await openForTest(open)
      if (powerCut === undefined) return context.skip('this store cannot be cut off from its power')
      await done(store, take({ upTo: 2, items: items(1, 2) }))
      await done(store, settle(1, delivered()))
      const after = await powerCut()

      expect([await after.outbox.cursor('slack'), await waiting(after)]).toEqual([2, { items: [2], summary: 0 }])
    })

    test('takes nothing twice: a channel goes on only from where it is', async () => {
      const { store } = await openForTest(open)
      const first = take({ upTo: 2, items: items(1, 2) })
      const [taken, again] = await commit(store, first, first)
      expect([taken?.ok, again?.ok]).toEqual([true, false])
      expect(await refusal(store, take({ after: 1, upTo: 3, items: [item(3)] }))).toBe('conflict')

      expect(await waiting(store)).toEqual({ items: [1, 2], summary: 0 })
    })

    test('removes what was delivered, and nothing else', async () => {
      const { store } = await openForTest(open)
      await done(store, take({ upTo: 3, items: items(1, 3) }))
      await done(store, settle(2, delivered()))

      expect(await waiting(store)).toEqual({ items: [1, 3], summary: 0 })
      expect(await refusal(store, settle(2, delivered()))).toBe('conflict')
      expect(await refusal(store, settle(1, delivered(), 'push'))).toBe('conflict')
    })

    test('is bounded: what does not fit is counted, until the count was delivered', async () => {
      const { store } = await openForTest(open)
      await done(store, take({ upTo: 300, items: items(1, 300) }))
      const full = Array.from({ length: OUTBOX_ITEMS }, (_, i) => i + 1)
      expect(await waiting(store)).toEqual({ items: full, summary: 44 })

      for (const n of [1, 2, 3]) await done(store, settle(n, delivered()))
      await done(store, take({ after: 300, upTo: 301, items: [item(301)] }))
      expect(await waiting(store)).toEqual({ items: full.slice(3), summary: 45 })

      const summaryAt = OUTBOX_ITEMS + 1
      await done(store, settle(summaryAt, delivered(44)))
      expect(await waiting(store)).toEqual({ items: full.slice(3), summary: 1 })
      await done(store, settle(summaryAt, delivered(1)))
      await done(store, take({ after: 301, upTo: 305, items: items(302, 305) }))
      expect(await waiting(store)).toEqual({ items: [...full.slice(3), 302, 303, 304], summary: 1 })
    })

    test('counts what can no longer be read, and what can never be shown', async () => {
      const { store } = await openForTest(open)
      await done(store, take({ upTo: 2, items: items(1, 2) }))
      await done(store, take({ after: 2, upTo: 50, skipped: 48 }))
      await done(store, settle(1, { type: 'given_up' }))
      expect(await waiting(store)).toEqual({ items: [2], summary: 49 })
      await done(store, settle(50, { type: 'given_up' }))
      await done(store, settle(2, { type: 'given_up' }))

      expect(await waiting(store)).toEqual({ items: [], summary: 1 })
    })

    test('shows items once more, with the numbers that they had', async () => {
      const { store } = await openForTest(open)
      await done(store, take({ upTo: 3, items: items(1, 3) }))
      await done(store, settle(1, delivered()))
      await done(store, settle(2, delivered()))
      await done(store, { type: 'replay_deliveries', channel: 'slack', items: items(2, 3) })
      expect([await store.outbox.cursor('slack'), await waiting(store)]).toEqual([3, { items: [2, 3], summary: 0 }])

      await done(store, { type: 'replay_deliveries', channel: 'slack', items: items(1, 300) })
      expect(await waiting(store)).toMatchObject({ summary: 300 - OUTBOX_ITEMS })
    })

    test('keeps lines in their order, numbers each once, and refuses those of a session that says too much', async () => {
      const { store, reopen } = await openForTest(open)
      const line = (id: string, sessionId = 'one'): QueueLine => ({
        type: 'queue_line',
        channel: 'slack:lines',
        line: { kind: 'line', id, at: 7, sessionId, by: 'agent', level: 'info', text: id, thread: null },
      })
      await done(store, line('a'))
      await done(store, line('b', 'two'))
      await done(store, settle(2, delivered(), 'slack:lines'))
      await done(store, line('c'))
      const fresh = { count: 1, attempts: 0, nextTryAt: 0 }
      const after = await reopen()
      expect(await after.outbox.deliveries('slack:lines')).toEqual([
        { ...fresh, channel: 'slack:lines', n: 1, item: { ...line('a').line, n: 1 } },
        { ...fresh, channel: 'slack:lines', n: 3, item: { ...line('c').line, n: 3 } },
      ])
      for (let i = 2; i < MOST_LINES; i += 1) await done(after, line(`more ${i}`))
      expect(await refusal(after, line('one too many'))).toBe('limit')
      await done(after, line('of another', 'two'))
    })

    test('keeps the notes of a channel, and removes those about a session with the session', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      await done(store, create(session))
      const note = (key: string, value: string, about: string | null = null, channel = 'slack') =>
        done(store, { type: 'note_for_channel', channel, key, value, session: about, at: 7 })
      await note('b', 'first')
      await note('b', 'second')
      await note('a', 'thread', session.id)
      await note('a', 'another channel', null, 'push')
      await note('c', 'gone')
      await done(store, { type: 'note_for_channel', channel: 'slack', key: 'c', value: null })

      const after = await reopen()
      expect(await after.outbox.notes('slack')).toEqual([
        { channel: 'slack', key: 'a', session: session.id, value: 'thread', at: 7 },
        { channel: 'slack', key: 'b', session: null, value: 'second', at: 7 },
      ])
      expect(await after.outbox.note('push', 'a')).toMatchObject({ value: 'another channel' })
      await done(after, remove(session.id))
      expect([await after.outbox.note('slack', 'a'), await after.outbox.notes('slack')]).toMatchObject([
        null,
        [{ key: 'b' }],
      ])
    })

    test('changes a note only as long as it is as somebody has read it', async () => {
      const { store } = await openForTest(open)
      const note = { type: 'note_for_channel', channel: 'schedules', key: 'daily' } as const
      const put = (value: string, was?: string | null): Command => ({ ...note, value, session: null, at: 7, was })
      const { results } = await store.commit([put('one', null), put('two', null)])
      expect(results.map(({ ok }) => ok)).toEqual([true, false])
      expect(await refusal(store, put('two', null))).toBe('conflict')
      expect(await refusal(store, { ...note, value: null, was: 'other' })).toBe('conflict')
      await done(store, put('two', 'one'))
      expect(await store.outbox.note('schedules', 'daily')).toMatchObject({ value: 'two' })
      await done(store, { ...note, value: null, was: 'two' })
      expect(await store.outbox.note('schedules', 'daily')).toBeNull()
    })

    test('remembers with an approval which message announced it, and tells nobody', async () => {
      const { store } = await openForTest(open)
      const { waits } = await waitingSession(store, (run) => [newApproval(run)])
      const id = waits[0]?.id ?? ''
      const head = await store.feed.head()
      const announced = (await store.feed.items(0, 100)).filter((one) => one.id === id)
      for (const channel of ['slack', 'push']) {
        await done(store, take({ channel, upTo: head, items: announced }))
        await done(store, settle(announced[0]?.n ?? 0, delivered(1, `${channel} message`), channel))
      }

      const messageRefs = { slack: 'slack message', push: 'push message' }
      expect(await store.waits.get(id)).toMatchObject({ status: 'pending', messageRefs })
      expect(await store.feed.head()).toBe(head)
    })
  })
}
