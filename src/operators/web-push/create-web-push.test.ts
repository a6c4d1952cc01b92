import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { silentLogger } from '../../domain/logger.ts'
import type { PersonRecord } from '../../domain/records/record.ts'
import { testOperator } from '../../domain/testing/test-operator.ts'
import { systemLookup } from '../../tools/http/service/service-http.ts'
import { describeOperator } from '../operator.contract.ts'
import type { RecordLookup } from '../operator.ts'
import { createPersonRules } from '../people/person-rules.ts'
import { deliveryOf, itemOf, sampleAlert, sampleApproval, sampleLookup, samplePrompt } from '../testing/sample-waits.ts'
import { testLink, testPost } from '../testing/test-post.ts'
import { createWebPush } from './create-web-push.ts'
import { asAda, openSubscriptions } from './testing/open-subscriptions.ts'
import { openPushService } from './testing/push-stand-in.ts'
import { createVapid, createVapidKeys } from './vapid.ts'

const ada = testOperator({ name: 'ada' })
const rules = createPersonRules({ person: ada, operators: [ada], escalation: [] })
const never = new AbortController().signal

async function openChannel(records: RecordLookup, { browsers = 1, lookup = systemLookup } = {}) {
  const service = await openPushService()
  const { subscriptions, vapidKeys } = await openSubscriptions()
  const opened = []
  for (let i = 0; i < browsers; i += 1) {
    const browser = service.subscribe(await subscriptions.publicKey())
    await subscriptions.subscribe(asAda, { ...browser.subscription, label: null })
    opened.push(browser)
  }
  const contact = 'mailto:ops@example.com'
  const sign = createVapid(vapidKeys() ?? createVapidKeys(), { contact, clock: createSystemClock() })
  const shared = { rules, post: testPost(lookup), link: testLink, logger: silentLogger }
  const channel = createWebPush({ ...shared, person: 'ada', subscriptions, vapid: async (url) => sign(url) })(records)
  return { ...service, subscriptions, channel, browsers: opened }
}

async function open(first: PersonRecord, options: Parameters<typeof openChannel>[1] = {}) {
  const { lookup: records, set } = sampleLookup(first)
  const opened = await openChannel(records, options)
  const { channel } = opened
  let refs = {}
  /** Delivers what the record says now, as the outbox does. */
  const deliver = async (wait: PersonRecord, n = 1, attempts = 0) => {
    set({ ...wait, messageRefs: refs })
    const ref = await channel.deliver(deliveryOf(itemOf(wait, n), { attempts }), never)
    if (ref !== null) refs = { [channel.name]: ref }
    return ref
  }
  return { ...opened, deliver }
}

describeOperator('web push', async (records) => {
  const { channel, browsers, behave } = await openChannel(records)
  const messages = () => browsers.flatMap((one) => one.shown()).map(({ title, body }) => `${title} ${body}`)
  return { channel, messages, behave }
})

describe('web push', () => {
  test('shows agent, tool and risk, no arguments, and opens the console', async () => {
    const approval = sampleApproval()
    const { deliver, browsers } = await open(approval)
    await deliver(approval)

    expect(browsers[0]?.messages).toEqual([
      {
        urgency: 'high',
        ttl: '86400',
        topic: approval.id.replaceAll('-', ''),
        payload: {
          title: 'claude-code asks to call a tool',
          body: 'Tool send_mail, risk high.',
          tag: approval.id,
          url: testLink(approval.id),
          risk: 'high',
          silent: false,
        },
      },
    ])
  })

  test('replaces it without a sound when somebody has decided', async () => {
    const approval = sampleApproval()
    const { deliver, browsers } = await open(approval)
    await deliver(approval)
    await deliver({ ...approval, status: 'approved', decidedBy: 'ben' }, 2)
    await deliver({ ...approval, status: 'consumed', decidedBy: 'ben' }, 3)

    expect(browsers[0]?.shown()).toMatchObject([{ body: 'Approved by ben.', silent: true }])
    expect(browsers[0]?.messages.map(({ urgency }) => urgency)).toEqual(['high', 'normal'])
  })

  test('a browser that is gone is forgotten, and the others are told', async () => {
    const approval = sampleApproval()
    const { deliver, browsers, subscriptions } = await open(approval, { browsers: 3 })
    browsers[1]?.leave()
    await deliver(approval)

    expect(browsers.map((one) => one.shown().length)).toEqual([1, 0, 1])
    expect(subscriptions.of('ada').length).toBe(2)
  })

  test('without a browser nobody is reached, and nothing is noted', async () => {
    const approval = sampleApproval()
    const { deliver, browsers, channel } = await open(approval)
    expect(channel.isSetUp?.()).toBe(true)
    browsers[0]?.leave()

    expect([await deliver(approval), channel.isSetUp?.()]).toEqual([null, false])
    expect(await deliver(approval)).toBe(null)
  })

  test('a browser that took a message does not get it again because another one failed', async () => {
    const approval = sampleApproval()
    const { deliver, browsers, behave, requests } = await open(approval, { browsers: 2 })
    behave('fails')
    await expect(deliver(approval)).rejects.toMatchObject({ name: 'DeliveryFailed' })
    await deliver(approval, 1, 1)

    expect([requests(), ...browsers.map((one) => one.messages.length)]).toEqual([3, 1, 1])
  })

  test('one browser that always fails does not hold up the others', async () => {
    const approval = sampleApproval()
    const { deliver, behave } = await open(approval, { browsers: 2 })
    behave('fails')
    await expect(deliver(approval)).rejects.toThrow()
    behave(503)

    expect(await deliver(approval, 1, 4)).not.toBe(null)
  })

  test('a browser that was given another key refuses us, and the channel says so', async () => {
    const approval = sampleApproval()
    const { deliver, subscribe, subscriptions, channel } = await open(approval, { browsers: 0 })
    const { subscription } = subscribe(createVapidKeys().publicKey)
    await subscriptions.subscribe(asAda, { ...subscription, label: null })

    for (let i = 0; i < 3; i += 1) {
      expect(channel.trouble?.()).toBe(null)
      await expect(deliver(approval, 1, i)).rejects.toThrow(/answered 403/)
    }
    expect(channel.trouble?.()).toMatch(/^push:ada: .* answered 403/)
  })

  test('a name that leads into a private network is not called', async () => {
    const approval = sampleApproval()
    const lookup = async () => ['127.0.0.1']
    const { deliver, subscriptions, requests, origin } = await open(approval, { browsers: 0, lookup })
    const keys = { p256dh: createVapidKeys().publicKey, auth: 'BTBZMqHH6r4Tts7J_aSIgg' }
    const endpoint = origin.replace('http://127.0.0.1', 'https://push.example.com')
    await subscriptions.subscribe(asAda, { endpoint, keys, label: null })

    expect([await deliver(approval), requests()]).toEqual([null, 0])
  })

  test('a digest is one message about what still waits', async () => {
    const approval = sampleApproval()
    const records = [
      approval,
      samplePrompt({ id: 'p', supervised: { host: 'codex', contentKey: 'key', returnedAt: null } }),
      sampleAlert({ id: 'a', status: 'dismissed', decidedBy: 'ben' }),
    ]
    const find: RecordLookup['find'] = async ({ id }) => records.find((one) => one.id === id) ?? null
    const { lookup } = sampleLookup(approval)
    const { channel, browsers } = await openChannel({ ...lookup, find })
    const deliveries = records.map((one, i) => deliveryOf(itemOf(one, i + 4)))
    await channel.deliverTogether?.(deliveries, never)
    await channel.deliverTogether?.(deliveries, never)
    await channel.deliverTogether?.(deliveries.slice(1), never)
    await channel.deliverTogether?.(deliveries.slice(2), never)

    expect(browsers[0]?.shown()).toMatchObject([
      {
        tag: 'digest-4',
        title: '2 messages',
        body: 'claude-code asks to call a tool: Tool send_mail, risk high.\ncodex asks whether to go on: May it go on?',
        url: testLink(null),
      },
      { tag: 'p', title: 'codex asks whether to go on' },
    ])
  })
})
