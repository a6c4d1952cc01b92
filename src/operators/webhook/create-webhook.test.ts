import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import type { FeedItem } from '../../domain/session/feed.ts'
import { notifyKinds } from '../../domain/settings/channel-settings.ts'
import { feedView } from '../../protocols/manage/events/feed-view.ts'
import { describeOperator } from '../operator.contract.ts'
import {
  deliveryOf,
  itemOf,
  sampleAlert,
  sampleApproval,
  sampleInstruction,
  samplePrompt,
} from '../testing/sample-waits.ts'
import { testPost } from '../testing/test-post.ts'
import { createWebhook, createWebhookLines, type WebhookOptions, webhookHeaders } from './create-webhook.ts'
import { openReceiver } from './testing/webhook-stand-in.ts'

const secret = `whsec_${Buffer.from('a secret of at least 24 bytes').toString('base64')}`
const never = new AbortController().signal

async function open(values: Partial<WebhookOptions['settings']> = {}, key = secret) {
  const receiver = await openReceiver(key)
  const settings = { name: 'pager', url: receiver.url, kinds: [...notifyKinds], ...values }
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const channel = createWebhook({
    ...{ settings, secret, feedView, post: testPost(), clock: createSystemClock() },
    traceOf: async ({ kind }) => (kind === 'session' ? undefined : { traceparent }),
  })
  return { ...receiver, channel, traceparent }
}

describeOperator('webhook', async () => {
  const { channel, messages, behave } = await open()
  // A program keeps what is newest about each record.
  const shown = () => {
    const byRecord = new Map<string, string>()
    for (const one of messages()) {
      const { data } = one as { data: { approval_id?: string } }
      byRecord.set(data.approval_id ?? '', JSON.stringify(one))
    }
    return [...byRecord.values()]
  }
  return { channel, messages: shown, behave }
})

describe('a webhook', () => {
  test('is told of the trace of the run that it is about, if there is one', async () => {
    const { channel, traces, traceparent } = await open()
    await channel.deliver(deliveryOf(itemOf(sampleApproval())), never)
    await channel.deliver(deliveryOf(null, { n: 9, count: 44 }), never)

    expect(traces).toEqual([traceparent, undefined])
  })

  test('gets the item of the feed with a type, under an id that stays the same', async () => {
    const { channel, received } = await open()
    const approval = sampleApproval()
    const item = itemOf(approval, 12)
    await channel.deliver(deliveryOf(item), never)
    await channel.deliver(deliveryOf(item, { attempts: 1 }), never)

    const message = {
      id: 'webhook:pager:12',
      payload: {
        type: 'approval.pending',
        timestamp: '1970-01-01T00:00:00.000Z',
        data: {
          type: 'feed',
          id: 'f.12',
          at: '1970-01-01T00:00:00.000Z',
          kind: 'approval',
          approval_id: approval.id,
          risk: 'high',
          session_id: 'session',
          owner: 'ada',
          agent: 'claude-code',
          status: 'pending',
        },
      },
    }
    expect(received).toEqual([message, message])
  })

  test.each([
    ['prompt.pending', itemOf(samplePrompt())],
    ['wait.waiting', itemOf(sampleInstruction())],
    ['alert.escalated', itemOf(sampleAlert({ status: 'escalated' }))],
    ['session.terminated', { ...itemOf(samplePrompt()), kind: 'session', status: 'terminated' } as FeedItem],
  ])('is told the type %s', async (type, item) => {
    const { channel, messages } = await open()
    await channel.deliver(deliveryOf(item), never)

    expect(messages()).toMatchObject([{ type }])
  })

  test('is told how much it has missed', async () => {
    const { channel, received } = await open()
    await channel.deliver(deliveryOf(null, { n: 9, count: 44 }), never)
    await channel.deliver(deliveryOf(null, { n: 9, count: 3 }), never)

    expect(received).toMatchObject([
      { id: 'webhook:pager:9:44', payload: { type: 'feed.missed', data: { count: 44 } } },
      { id: 'webhook:pager:9:3', payload: { type: 'feed.missed', data: { count: 3 } } },
    ])
  })

  test('gets only the kinds that it is for', async () => {
    const { channel } = await open({ kinds: ['stall', 'session'] })
    const items = [sampleApproval(), samplePrompt(), sampleInstruction(), sampleAlert()].map((one) => itemOf(one))
    const session = { ...itemOf(samplePrompt()), kind: 'session', status: 'active' } as FeedItem
    const run = { ...itemOf(samplePrompt()), kind: 'run', status: 'running' } as FeedItem

    expect([...items, session, run].map(channel.concerns)).toEqual([false, false, false, true, true, false])
  })

  test.each([
    ['fails', /answered 500/],
    [302, /answered 302\. It redirects/],
    [404, /answered 404/],
  ] as const)('that answers %s gets it again later', async (behaviour, message) => {
    const { channel, behave, messages } = await open()
    behave(behaviour)
    const delivery = deliveryOf(itemOf(sampleApproval()))

    await expect(channel.deliver(delivery, never)).rejects.toMatchObject({
      message: expect.stringMatching(message),
      giveUp: false,
    })
    await channel.deliver(delivery, never)
    expect([messages().length, channel.trouble?.()]).toEqual([1, null])
  })

  test('that is gone for good is left alone, and the channel says so', async () => {
    const { channel, behave, received } = await open()
    behave(410)
    const delivery = deliveryOf(itemOf(sampleApproval()))

    for (let i = 0; i < 2; i += 1) {
      await expect(channel.deliver(delivery, never)).rejects.toMatchObject({ giveUp: true })
    }
    expect(received).toEqual([])
    expect(channel.trouble?.()).toMatch(/^webhook:pager: .* wants no more messages/)
  })

  test('with another secret refuses us, and after three times that is trouble', async () => {
    const { channel } = await open({}, `whsec_${Buffer.from('another secret of 24 bytes').toString('base64')}`)
    for (let i = 0; i < 3; i += 1) {
      expect(channel.trouble?.()).toBe(null)
      await expect(channel.deliver(deliveryOf(itemOf(sampleApproval())), never)).rejects.toThrow(/401/)
    }

    expect(channel.trouble?.()).toMatch(/401\. Check the credential/)
  })
})

test('the signature is that of the example of Standard Webhooks', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at: 1_614_265_330_000, body: '{"test": 2432232314}' }

  expect(webhookHeaders('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', message)['webhook-signature']).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})

test('lines are messages of their own, under the id of the line however often it is tried', async () => {
  const { received, url } = await openReceiver(secret)
  const lines = createWebhookLines({
    settings: { name: 'pager', url, kinds: [] },
    ...{ secret, feedView, post: testPost(), clock: createSystemClock(), traceOf: async () => undefined },
  })
  const line = {
    kind: 'line',
    id: 'run-1',
    at: 0,
    sessionId: 's1',
    by: 'agent',
    level: 'success',
    thread: null,
  } as const
  const delivery = { channel: lines.name, count: 1, nextTryAt: 0, item: { ...line, text: 'daily: Done.' } }
  await lines.say?.({ ...delivery, n: 1, attempts: 0, item: { ...delivery.item, n: 1 } }, never)
  await lines.say?.({ ...delivery, n: 2, attempts: 1, item: { ...delivery.item, n: 2 } }, never)

  const data = { level: 'success', session_id: 's1', text: 'daily: Done.' }
  const payload = { type: 'line.success', timestamp: '1970-01-01T00:00:00.000Z', data }
  const message = { id: 'webhook:pager:lines:run-1', payload }
  expect(received).toEqual([message, message])
})
