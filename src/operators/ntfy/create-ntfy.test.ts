import { describe, expect, test } from 'vitest'
import type { PersonRecord } from '../../domain/records/record.ts'
import { testOperator } from '../../domain/testing/test-operator.ts'
import { createConsoleLink } from '../console-link.ts'
import { describeOperator } from '../operator.contract.ts'
import { createPersonRules } from '../people/person-rules.ts'
import { deliveryOf, itemOf, sampleAlert, sampleApproval, sampleLookup } from '../testing/sample-waits.ts'
import { testLink, testPost } from '../testing/test-post.ts'
import { createNtfy, type NtfyOptions } from './create-ntfy.ts'
import { openNtfy } from './testing/ntfy-stand-in.ts'

const ada = testOperator({ name: 'ada' })
const rules = createPersonRules({ person: ada, operators: [ada], escalation: [] })
const topic = 'ada-7f3kq9'
const never = new AbortController().signal

const optionsOf = (server: string, values: Partial<NtfyOptions> = {}): NtfyOptions => ({
  person: 'ada',
  server,
  topic,
  token: null,
  rules,
  post: testPost(),
  link: testLink,
  ...values,
})

async function open(first: PersonRecord, server: Parameters<typeof openNtfy>[0] = {}, token: string | null = null) {
  const ntfy = await openNtfy(server)
  const { lookup, set } = sampleLookup(first)
  const channel = createNtfy(optionsOf(ntfy.url.href, { token }))(lookup)
  let refs = {}
  /** Delivers what the record says now, as the outbox does. */
  const deliver = async (wait: PersonRecord, n = 1) => {
    set({ ...wait, messageRefs: refs })
    const ref = await channel.deliver(deliveryOf(itemOf(wait, n)), never)
    if (ref !== null) refs = { [channel.name]: ref }
    return ref
  }
  return { ...ntfy, channel, deliver, phone: () => ntfy.phone(topic) }
}

describeOperator('ntfy', async (lookup) => {
  const ntfy = await openNtfy()
  return {
    channel: createNtfy(optionsOf(ntfy.url.href))(lookup),
    messages: () => ntfy.phone(topic).map(({ title, message }) => `${title} ${message}`),
    behave: ntfy.behave,
  }
})

describe('ntfy', () => {
  test('shows agent, tool and risk, no arguments, and opens the console', async () => {
    const approval = sampleApproval()
    const { deliver, phone } = await open(approval)
    await deliver(approval)

    const link = testLink(approval.id)
    expect(phone()).toEqual([
      {
        topic,
        title: 'claude-code asks to call a tool',
        message: 'Tool send_mail, risk high.',
        priority: 4,
        tags: ['warning'],
        click: link,
        actions: [{ action: 'view', label: 'Open', url: link }],
        sequence_id: approval.id,
      },
    ])
  })

  test('replaces it without a sound when somebody has decided, and not again for the same words', async () => {
    const approval = sampleApproval({ risk: 'critical' })
    const { deliver, phone, taken } = await open(approval)
    await deliver(approval)
    await deliver({ ...approval, status: 'approved', decidedBy: 'ben' }, 2)
    await deliver({ ...approval, status: 'consumed', decidedBy: 'ben' }, 3)

    expect(phone()).toMatchObject([{ message: 'Approved by ben.', priority: 1 }])
    expect(taken.map(({ priority }) => priority)).toEqual([5, 1])
  })

  test('shows nothing that was over before it could be shown', async () => {
    const approval = sampleApproval()
    const { deliver, taken } = await open(approval)

    expect(await deliver({ ...approval, status: 'expired', decidedBy: 'timeout' })).toBe(null)
    expect(taken).toEqual([])
  })

  test('shows no second message at a server that cannot replace the first, but tells that nobody woke the agent', async () => {
    const alert = sampleAlert()
    const { deliver, phone } = await open(alert, { knowsSequences: false })
    await deliver(alert)
    await deliver({ ...alert, status: 'nudged', nudgeCount: 1 }, 2)
    await deliver({ ...alert, status: 'escalated', nudgeCount: 3 }, 3)
    await deliver({ ...alert, status: 'dismissed', decidedBy: 'ada' }, 4)

    expect(phone().map(({ title }) => title)).toEqual([
      'claude-code has gone silent',
      'claude-code is still silent after all nudges',
    ])
  })

  test('has no button where nobody knows the address of the server', async () => {
    const ntfy = await openNtfy()
    const { lookup } = sampleLookup(sampleApproval())
    const channel = createNtfy(optionsOf(ntfy.url.href, { link: createConsoleLink('') }))(lookup)
    await channel.deliver(deliveryOf(itemOf(sampleApproval())), never)

    expect(Object.keys(ntfy.taken[0] ?? {}).sort()).toEqual([
      ...['message', 'priority', 'sequence_id', 'tags', 'title', 'topic'],
    ])
  })

  test('sends its token, and says that it was refused', async () => {
    const approval = sampleApproval()
    const known = await open(approval, { token: 'tk_1' }, 'tk_1')
    expect(await known.deliver(approval)).not.toBe(null)
    const unknown = await open(approval, { token: 'tk_1' }, null)

    await expect(unknown.deliver(approval)).rejects.toThrow(/answered 403\. Check the credential/)
  })

  test.each([['fails'], [301], [{ retryAfterMs: 7_000 }]] as const)('tries again later after %o', async (behaviour) => {
    const approval = sampleApproval()
    const { deliver, behave, phone } = await open(approval)
    behave(behaviour)

    await expect(deliver(approval)).rejects.toMatchObject({ name: 'DeliveryFailed', giveUp: false })
    await deliver(approval)
    expect(phone().length).toBe(1)
  })

  test('a server that is not there is tried again', async () => {
    const { lookup } = sampleLookup(sampleApproval())
    const channel = createNtfy(optionsOf('http://127.0.0.1:1'))(lookup)

    await expect(channel.deliver(deliveryOf(itemOf(sampleApproval())), never)).rejects.toThrow(
      '127.0.0.1:1 could not be reached.',
    )
  })
})
