// Web Push, for operators: the key that a browser needs, and the browsers that take messages for the caller.

import { z } from 'zod'
import { isoTime } from '../../../domain/clock.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import {
  MOST_PUSH_SUBSCRIPTIONS,
  type NewPushSubscription,
  type PushSubscription,
} from '../../../domain/supervision/push-subscription.ts'
import { answer, listOf } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { decodeBody } from '../supervision/decode.ts'
import type * as wire from './schema.ts'
import { NewSubscriptionSchema, PushKeySchema, PushSubscriptionSchema } from './schema.ts'

export interface PushRoutesDeps {
  push: {
    publicKey(): Promise<string>
    list(by: Caller): Promise<readonly PushSubscription[]>
    subscribe(by: Caller, wanted: NewPushSubscription): Promise<PushSubscription>
    unsubscribe(by: Caller, id: string): Promise<void>
  }
}

const tag = 'Web Push'

export function createPushRoutes({ push }: PushRoutesDeps): Route[] {
  async function key(_request: Request, reply: Reply): Promise<void> {
    const body: wire.PushKey = { public_key: await push.publicKey() }
    reply.json(200, body)
  }

  async function list(request: Request, reply: Reply): Promise<void> {
    const subscriptions = await push.list(callerOf(request))
    reply.json(200, { subscriptions: subscriptions.map(subscriptionView) })
  }

  async function subscribe(request: Request, reply: Reply): Promise<void> {
    const { endpoint, keys, label = null } = await decodeBody(request, NewSubscriptionSchema)
    const made = await push.subscribe(callerOf(request), { endpoint, keys, label })
    request.log.info('a browser takes push messages', { operator: made.person, subscription_id: made.id })
    reply.json(201, subscriptionView(made))
  }

  async function unsubscribe(request: Request, reply: Reply): Promise<void> {
    const { id = '' } = request.params
    await push.unsubscribe(callerOf(request), id)
    reply.empty(204)
  }

  const { get, post, del } = routeHeads(null, 'operator')
  return [
    {
      ...get,
      path: '/push/key',
      summary: 'The key that a browser needs for push messages',
      describe: () => ({
        tag,
        description:
          'The `applicationServerKey` of `pushManager.subscribe`. It is made at the first use and then stays the same.',
        responses: { 200: answer('The public key.', PushKeySchema) },
        errors: [],
      }),
      handle: key,
    },
    {
      ...get,
      path: '/push/subscriptions',
      summary: 'List your browsers that take push messages',
      describe: () => ({
        tag,
        description: 'Your own browsers, whichever of your names you come with.',
        responses: {
          200: listOf('subscriptions', PushSubscriptionSchema, 'The browsers that take messages for you.'),
        },
        errors: ['forbidden'],
      }),
      handle: list,
    },
    {
      ...post,
      path: '/push/subscriptions',
      summary: 'Send push messages to a browser',
      describe: () => ({
        tag,
        description: `From now on this browser shows what waits for you. Send the subscription as the browser gives it. The same browser again is the same subscription. At most ${MOST_PUSH_SUBSCRIPTIONS} for each operator.`,
        body: {
          schema: NewSubscriptionSchema,
          examples: {
            phone: {
              endpoint: 'https://push.example.com/abc',
              keys: {
                p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
                auth: 'BTBZMqHH6r4Tts7J_aSIgg',
              },
              label: 'phone',
            },
          },
        },
        responses: { 201: answer('The subscription.', PushSubscriptionSchema) },
        errors: ['invalid_request', 'forbidden', 'limit', 'storage_full', 'storage_failed'],
      }),
      handle: subscribe,
    },
    {
      ...del,
      path: '/push/subscriptions/:id',
      summary: 'Send a browser no more push messages',
      describe: () => ({
        tag,
        description: 'The browser gets no more messages.',
        params: { id: z.string().describe('Id of the subscription.') },
        responses: { 204: { description: 'It is removed.' } },
        errors: ['forbidden', 'record_not_found', 'storage_full', 'storage_failed'],
      }),
      handle: unsubscribe,
    },
  ]
}

/** Without its address: whoever knows that can disturb. */
export const subscriptionView = ({ id, label, endpoint, createdAt }: PushSubscription): wire.PushSubscription => ({
  subscription_id: id,
  label,
  service: new URL(endpoint).host,
  created_at: isoTime(createdAt),
})
