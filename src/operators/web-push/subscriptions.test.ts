import { createECDH } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { asAda, openSubscriptions } from './testing/open-subscriptions.ts'

const asBen = { user: 'ben', role: 'operator' } as const

function browser(endpoint = 'https://push.example.com/1') {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  const keys = { p256dh: pair.getPublicKey('base64url'), auth: 'BTBZMqHH6r4Tts7J_aSIgg' }
  return { endpoint, keys, label: 'phone' }
}

describe('push subscriptions', () => {
  test('belong to the operator who made them, under any of their names, and survive a restart', async () => {
    const { subscriptions, reopen, vapidKeys, subscribed } = await openSubscriptions()
    expect(vapidKeys()).toBe(null)
    const made = await subscriptions.subscribe({ user: 'ada@work', role: 'operator' }, browser())
    expect(subscribed).toEqual(['push:ada'])

    expect(made).toEqual({ ...browser(), keys: made.keys, id: made.id, person: 'ada', createdAt: made.createdAt })
    expect([subscriptions.of('ada'), await subscriptions.list(asAda), await subscriptions.list(asBen)]).toEqual([
      [made],
      [made],
      [],
    ])
    expect((await reopen()).of('ada')).toEqual([made])
    // The tokens of a first start name no user. They are those of whoever is local.
    expect(await subscriptions.list({ user: 'operator', role: 'operator' })).toEqual([made])
    // An operator by group: nobody can know that before they come.
    await expect(subscriptions.list({ user: 'corp:eve', role: 'operator' })).rejects.toThrow(
      'Push messages reach operators whom quarterdeck.yaml lists by name: operators[].name, logins or console. "corp:eve" is none of them.',
    )
  })

  test('the same browser again is the same subscription', async () => {
    const { subscriptions } = await openSubscriptions()
    const first = await subscriptions.subscribe(asAda, browser())
    const again = await subscriptions.subscribe(asAda, { ...browser(), label: 'tablet' })

    expect(subscriptions.of('ada')).toEqual([again])
    expect(again).toMatchObject({ id: first.id, createdAt: first.createdAt, label: 'tablet' })
  })

  test('ten for each person, also when they come at the same time', async () => {
    const { subscriptions } = await openSubscriptions()
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) => subscriptions.subscribe(asAda, browser(`https://push.example.com/${i}`))),
    )

    expect(results.map(({ status }) => status).sort()).toEqual([...Array(10).fill('fulfilled'), 'rejected', 'rejected'])
    expect(results.at(-1)).toMatchObject({ reason: { code: 'limit' } })
    await subscriptions.subscribe(asAda, { ...browser('https://push.example.com/3'), label: 'known' })
    await subscriptions.subscribe(asBen, browser())
  })

  test('can be removed by their person alone', async () => {
    const { subscriptions, reopen } = await openSubscriptions()
    const { id } = await subscriptions.subscribe(asAda, browser())
    for (const [by, which] of [
      [asBen, id],
      [asAda, 'x'],
    ] as const) {
      await expect(subscriptions.unsubscribe(by, which)).rejects.toMatchObject({ code: 'record_not_found' })
    }
    await subscriptions.unsubscribe(asAda, id)

    expect([subscriptions.of('ada'), (await reopen()).of('ada')]).toEqual([[], []])
  })

  test('are gone when the keys are lost that they were made for', async () => {
    const { subscriptions, reopen, loseKeys, store } = await openSubscriptions()
    await subscriptions.subscribe(asAda, browser())
    loseKeys()

    expect((await reopen()).of('ada')).toEqual([])
    expect(await store.outbox.notes('push:ada')).toEqual([])
  })

  test.each([
    ['http://push.example.com/1'],
    ['https://ada:secret@push.example.com/1'],
    ['https://127.0.0.1/1'],
    ['https://[::1]/1'],
    ['https://169.254.169.254/latest'],
    ['https://10.0.0.7/1'],
    ['https://localhost/1'],
    ['file:///etc/passwd'],
    ['push'],
  ])('at %s are refused', async (endpoint) => {
    const { subscriptions } = await openSubscriptions()

    await expect(subscriptions.subscribe(asAda, browser(endpoint))).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ pointer: '/endpoint' }],
    })
  })

  test('on this machine are for a server of this machine', async () => {
    const endpoint = 'http://127.0.0.1:9/1'
    const { subscriptions } = await openSubscriptions()
    await subscriptions.subscribe(asAda, browser(endpoint))
    const open = (await openSubscriptions({ isLocalServer: false })).subscriptions

    await expect(open.subscribe(asAda, browser(endpoint))).rejects.toMatchObject({ code: 'invalid_request' })
    expect([subscriptions.isLocal(new URL(endpoint)), open.isLocal(new URL(endpoint))]).toEqual([true, false])
  })

  test('with keys that are none are refused', async () => {
    const { subscriptions } = await openSubscriptions()
    const wanted = { ...browser(), keys: { p256dh: 'abc', auth: 'def' } }

    await expect(subscriptions.subscribe(asAda, wanted)).rejects.toMatchObject({ problems: [{ pointer: '/keys' }] })
  })
})
