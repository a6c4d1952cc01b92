// Notifications in the browsers of one operator, through the push services of their vendors (RFC 8030). The services pass on what they cannot
// read. Nothing can be decided in a notification: it opens the console.

import type { Logger } from '../../domain/logger.ts'
import type { PushSubscription } from '../../domain/supervision/push-subscription.ts'
import type { ChannelParts, OpenedChannels } from '../channel-parts.ts'
import type { Notification } from '../notifications/notification.ts'
import { type CreateChannel, DeliveryFailed } from '../operator.ts'
import {
  createPersonalChannel,
  type NotificationToShow,
  type PersonToTell,
  peopleToTell,
} from '../people/personal-channel.ts'
import type { WebPushSettings } from './channel.ts'
import { encryptPayload } from './encrypt-payload.ts'
import { type PushSubscriptions, pushChannel } from './subscriptions.ts'
import { createVapid } from './vapid.ts'

interface WebPushOptions extends PersonToTell {
  subscriptions: Pick<PushSubscriptions, 'of' | 'forget' | 'isLocal'>
  /** The `authorization` header for an endpoint: see `vapid.ts`. */
  vapid: (endpoint: URL) => Promise<string>
  logger: Logger
}

/** How long a service keeps a message for a browser that is not there. Most questions are over by then. */
const TTL_SECONDS = 24 * 60 * 60
/** If one of several browsers took the notification, the others are tried so often. */
const MOST_TRIES = 5
/** Deliveries whose tries are remembered. */
const MOST_REMEMBERED = 1_000

/** One for each operator: a browser may subscribe at any time. */
export async function openWebPushChannels(parts: ChannelParts<WebPushSettings, never>): Promise<OpenedChannels> {
  const { settings, publicUrl, push, clock, logger } = parts
  const contact = settings.contact ?? (publicUrl?.startsWith('https:') === true ? publicUrl : null)
  let sign: ReturnType<typeof createVapid> | null = null
  const vapid = async (endpoint: URL): Promise<string> => {
    sign ??= createVapid(await push.keys(), { contact, clock })
    return sign(endpoint)
  }
  const { subscriptions } = push
  const channels = peopleToTell(parts).map((shared) => createWebPush({ ...shared, subscriptions, vapid, logger }))
  return { channels, chat: null }
}

export function createWebPush(options: WebPushOptions): CreateChannel {
  const { person, subscriptions, vapid, post, logger } = options
  /** What each browser has taken, by the number of the delivery: a try that failed for one is not repeated for the others. */
  const taken = new Map<number, Set<string>>()

  /** Resolves to true when the service took it, and to false when the browser is gone. */
  async function send(
    notification: Notification,
    subscription: PushSubscription,
    signal: AbortSignal,
  ): Promise<boolean> {
    const url = new URL(subscription.endpoint)
    const request = {
      url,
      headers: { ...headersOf(notification), authorization: await vapid(url) },
      body: encryptPayload(payloadOf(notification), subscription.keys),
      isOurs: subscriptions.isLocal(url),
    }
    const { status } = await post(request, signal, (one) => one === 404 || one === 410)
    if (status < 300) return true
    await subscriptions.forget(subscription)
    logger.info('a browser takes no push messages any more', { operator: person, service: url.host, status })
    return false
  }

  async function show(
    { notification, n, attempts, mark }: NotificationToShow,
    signal: AbortSignal,
  ): Promise<string | null> {
    const remembered = taken.get(n) ?? new Set()
    const failures: DeliveryFailed[] = []
    await Promise.all(
      subscriptions.of(person).map(async (subscription) => {
        const key = `${subscription.id} ${mark}`
        if (remembered.has(key)) return
        try {
          if (await send(notification, subscription, signal)) remembered.add(key)
        } catch (error) {
          if (!(error instanceof DeliveryFailed)) throw error
          if (error.giveUp) logger.warn('a push message was not sent', { operator: person, error })
          else failures.push(error)
        }
      }),
    )
    const isShown = remembered.size > 0
    const [first] = failures
    if (first === undefined || (isShown && attempts + 1 >= MOST_TRIES)) {
      taken.delete(n)
      return isShown ? 'shown' : null
    }
    if (taken.size >= MOST_REMEMBERED) taken.clear()
    taken.set(n, remembered)
    const retryAfterMs = Math.max(...failures.map((one) => one.retryAfterMs))
    throw new DeliveryFailed(first.message, { retryAfterMs, cause: first })
  }

  return createPersonalChannel({
    ...options,
    name: pushChannel(person),
    show,
    isSetUp: () => subscriptions.of(person).length > 0,
  })
}

/** What the console's service worker gets, and shows. A later one with the same `tag` replaces an earlier one. */
const payloadOf = ({ key, title, body, risk, isNews, link }: Notification): string =>
  JSON.stringify({ title, body, tag: key, url: link, risk, silent: !isNews })

const headersOf = ({ key, isNews }: Notification): Record<string, string> => ({
  'content-type': 'application/octet-stream',
  'content-encoding': 'aes128gcm',
  ttl: String(TTL_SECONDS),
  // Somebody is waited for: a phone that sleeps must not keep the message back.
  urgency: isNews ? 'high' : 'normal',
  // A message that waits at the service is replaced by a later one of the same topic. 32 characters at most: a UUID without its dashes.
  topic: key.replaceAll('-', '').slice(0, 32),
})
