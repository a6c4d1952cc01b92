// The promises of `operator.ts` as a suite that every channel passes.

import { describe, expect, onTestFinished, test } from 'vitest'
import type { FeedItem } from '../domain/session/feed.ts'
import type { Delivery } from '../domain/supervision/delivery.ts'
import { openEngine, testTool } from '../engine/testing/open-engine.ts'
import type { Approvals } from '../supervision/approvals/approvals.ts'
import type { OperatorChannel, RecordLookup } from './operator.ts'

export interface ChannelUnderTest {
  channel: OperatorChannel
  /** What operators see now. */
  messages(): string[]
  /** The next try is answered with 429 and this `Retry-After`, or never. */
  behave(next: { retryAfterMs: number } | 'hangs'): void
  /** An operator answers. Gives what the channel shows them. Left out: nobody can answer there, and that row does not apply. */
  press?(approvalId: string, decision: 'approve' | 'reject'): Promise<string>
}

type OpenChannel = (lookup: RecordLookup & { approvals: Approvals }) => ChannelUnderTest | Promise<ChannelUnderTest>

export function describeOperator(name: string, open: OpenChannel): void {
  /** A channel, and the delivery of an approval that waits. */
  async function openAsking() {
    const call = async () => ({ content: 'Wiped.', isError: false })
    const engine = openEngine({
      answers: [{ parts: [{ tool_call: { name: 'wipe' } }] }, { parts: [{ text: 'Done.' }] }],
      tools: [testTool({ name: 'wipe', risk: 'high', effect: 'once', approval: { ask: 'always' }, call })],
    })
    onTestFinished(engine.close)
    const { approvals, feed, log, start, events } = engine
    const find = async ({ id }: FeedItem) => {
      const wait = await engine.store.waits.get(id)
      return wait === null || wait.wait === 'client_call' ? null : wait
    }
    const opened = await open({ approvals, find })
    const taken = await start('Hi')
    await events(taken)
    const deliveryOf = (item: FeedItem): Delivery => ({
      channel: opened.channel.name,
      n: item.n,
      item,
      count: 1,
      attempts: 0,
      nextTryAt: 0,
    })
    const waits = async () => (await feed.items(0, 100)).filter(({ kind }) => kind === 'wait')
    const [pending] = await waits()
    if (pending === undefined) throw new Error('nothing waits')
    /** Delivers as the outbox does. */
    const deliver = async (item: FeedItem) => {
      const { channel } = opened
      const ref = await channel.deliver(deliveryOf(item), AbortSignal.timeout(60_000))
      const take = { type: 'take_deliveries', channel: channel.name, upTo: item.n, items: [item], skipped: 0 } as const
      await log.commit({ ...take, after: await engine.store.outbox.cursor(channel.name) })
      const outcome = { type: 'delivered', count: 1, ref } as const
      await log.commit({ type: 'settle_delivery', channel: channel.name, n: item.n, outcome })
    }
    return { ...engine, ...opened, pending, waits, deliver, deliveryOf }
  }
  const inTime = () => AbortSignal.timeout(60_000)

  describe(`${name} channel`, () => {
    test('shows what waits once, also when the delivery comes again', async () => {
      const { channel, messages, pending, deliveryOf } = await openAsking()
      await channel.deliver(deliveryOf(pending), inTime())
      const shown = messages()
      await channel.deliver(deliveryOf(pending), inTime())

      expect(shown.length).toBe(1)
      expect(messages()).toEqual(shown)
    })

    test('brings its message up to date when somebody decides elsewhere', async () => {
      const { messages, pending, deliver, approvals, waits } = await openAsking()
      await deliver(pending)
      const [before] = messages()
      await approvals.decide({ user: 'ada', role: 'operator' }, pending.id, { decision: 'reject' })
      for (const item of (await waits()).slice(1)) await deliver(item)

      expect(messages().length).toBe(1)
      expect(messages()[0]).not.toBe(before)
    })

    test('hands in what an operator decides, and tells a late one who was first', async (context) => {
      const { press, pending, approvals } = await openAsking()
      if (press === undefined) return context.skip('it takes no answers')
      const eve = { user: 'eve', role: 'operator' } as const

      await press(pending.id, 'reject')
      expect(await approvals.get(eve, pending.id)).toMatchObject({ status: 'rejected' })
      expect(await press(pending.id, 'approve')).toContain('rejected')
      expect(await approvals.get(eve, pending.id)).toMatchObject({ status: 'rejected' })
    })

    test('shows a summary', async () => {
      const { channel, messages, pending, deliveryOf } = await openAsking()
      await channel.deliver({ ...deliveryOf(pending), item: null, count: 44 }, inTime())

      expect(messages().join()).toContain('44')
    })

    test('passes on how long the service asks to wait', async () => {
      const { channel, behave, messages, pending, deliveryOf } = await openAsking()
      behave({ retryAfterMs: 7_000 })

      await expect(channel.deliver(deliveryOf(pending), inTime())).rejects.toMatchObject({ retryAfterMs: 7_000 })
      expect(messages()).toEqual([])
    })

    test('stops waiting for the service when it is told to', async () => {
      const { channel, behave, pending, deliveryOf } = await openAsking()
      behave('hangs')
      const leaving = new AbortController()
      const delivering = channel.deliver(deliveryOf(pending), leaving.signal)
      leaving.abort()

      await expect(delivering).rejects.toThrow()
    })
  })
}
