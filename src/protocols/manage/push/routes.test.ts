import { createECDH } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { openSubscriptions } from '../../../operators/web-push/testing/open-subscriptions.ts'
import { asAda, asEve, asOperator, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { createPushRoutes } from './routes.ts'
import { PushSubscriptionSchema } from './schema.ts'

/** The token of `asOperator` names no user, so it is that of the local operator. */
async function openWithPush(others = ['eve']) {
  const { subscriptions } = await openSubscriptions({ isLocalServer: false, others })
  return openDoors({}, () => createPushRoutes({ push: subscriptions }))
}

function browser(endpoint = 'https://push.example.com/secret-address') {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return {
    endpoint,
    expirationTime: null,
    keys: { p256dh: pair.getPublicKey('base64url'), auth: 'BTBZMqHH6r4Tts7J_aSIgg' },
  }
}

describe('the routes of Web Push', () => {
  test('take a browser for the caller, show it to them alone without its address, and remove it', async () => {
    await using doors = await openWithPush()
    expect(await (await doors.get('/push/key', asOperator)).json()).toEqual({
      public_key: expect.stringMatching(/^[\w-]{87}$/),
    })
    const made = await doors.post('/push/subscriptions', { ...browser(), label: 'phone' }, asOperator)
    const view = PushSubscriptionSchema.parse(await made.json())

    expect([made.status, view]).toEqual([
      201,
      {
        subscription_id: view.subscription_id,
        label: 'phone',
        service: 'push.example.com',
        created_at: view.created_at,
      },
    ])
    expect(await (await doors.get('/push/subscriptions', asOperator)).json()).toEqual({ subscriptions: [view] })
    expect(await (await doors.get('/push/subscriptions', asEve)).json()).toEqual({ subscriptions: [] })
    const path = `/push/subscriptions/${view.subscription_id}`
    expect(await refusalOf(await doors.remove(path, asEve))).toEqual({ status: 404, code: 'record_not_found' })
    expect((await doors.remove(path, asOperator)).status).toBe(204)
    expect(await refusalOf(await doors.remove(path, asOperator))).toEqual({ status: 404, code: 'record_not_found' })
  })

  test.each([
    ['an address in a private network', browser('https://192.168.0.7/x')],
    ['an address that is not https', browser('http://push.example.com/x')],
    ['no keys', { endpoint: 'https://push.example.com/x' }],
    ['more than a browser gives', { ...browser(), role: 'admin' }],
    ['a label that nobody can see', { ...browser(), label: '\u202e' }],
  ])('refuse %s', async (_what, body) => {
    await using doors = await openWithPush()

    expect(await refusalOf(await doors.post('/push/subscriptions', body, asOperator))).toEqual({
      status: 400,
      code: 'invalid_request',
    })
  })

  test('are for operators, and for those whom the settings name', async () => {
    await using doors = await openWithPush(['ben'])

    for (const [path, headers, status] of [
      ['/push/key', asAda, 403],
      ['/push/subscriptions', asAda, 403],
      ['/push/subscriptions', {}, 401],
      ['/push/subscriptions', asEve, 403],
    ] as const) {
      expect((await doors.get(path, headers)).status).toBe(status)
    }
    expect((await doors.post('/push/subscriptions', browser(), asEve)).status).toBe(403)
  })
})
