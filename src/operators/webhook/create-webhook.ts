// Posts what changes to an address of the settings, signed. The receiver is a program: it gets every change, not the present state.

import { createHmac } from 'node:crypto'
import { isoTime } from '../../domain/clock.ts'
import type { Delivery } from '../../domain/supervision/delivery.ts'
import { type TraceContext, traceHeaders } from '../../domain/telemetry.ts'
import type { ChannelParts, OpenedChannels } from '../channel-parts.ts'
import { createTroubleWatch } from '../notifications/post.ts'
import { DeliveryFailed, type OperatorChannel } from '../operator.ts'
import { isOfKind } from '../people/person-rules.ts'
import type { WebhookSettings } from './channel.ts'

export interface WebhookOptions extends Pick<ChannelParts, 'feedView' | 'post' | 'traceOf' | 'clock'> {
  settings: WebhookSettings
  /** `whsec_` and base64. */
  secret: string
}

const GONE = 410

export async function openWebhooks(
  parts: ChannelParts<readonly WebhookSettings[], 'webhook_secret'>,
): Promise<OpenedChannels> {
  const { webhook_secret: secret } = parts.credentials
  if (secret === null) return { channels: [], chat: null }
  const channels = parts.settings.flatMap((settings) => {
    const options = { ...parts, settings, secret }
    return [() => createWebhook(options), () => createWebhookLines(options)]
  })
  return { channels, chat: null }
}

/** Posts signed messages under the name of a channel. */
function createSender(name: string, { settings, secret, post, clock }: WebhookOptions) {
  const url = new URL(settings.url)
  /** The receiver has said that it wants nothing more. It is asked again after a restart. */
  let isGone = false
  const { watched, trouble } = createTroubleWatch(name)
  return {
    async send(message: { id: string; body: object; trace?: TraceContext | undefined }, signal: AbortSignal) {
      const gone = new DeliveryFailed(`${url.host} answered ${GONE} and wants no more messages.`, { giveUp: true })
      if (isGone) throw gone
      const body = JSON.stringify(message.body)
      const signed = webhookHeaders(secret, { id: message.id, at: clock.now(), body })
      const headers = { ...traceHeaders(message.trace), ...signed }
      const posted = post({ url, headers, body, isOurs: true }, signal, (one) => one === GONE)
      await watched(
        posted.then(({ status }) => {
          isGone = status === GONE
          if (isGone) throw gone
        }),
      )
    },
    trouble: () => trouble(isGone),
  }
}

/** What is said to people and nobody answers: how the run of a schedule has ended. */
export function createWebhookLines(options: WebhookOptions): OperatorChannel {
  const name = `webhook:${options.settings.name}:lines`
  const { send, trouble } = createSender(name, options)
  return {
    name,
    surface: 'remote',
    concerns: () => false,
    deliver: async () => null,
    async say({ item }, signal) {
      if (item === null) return
      const { id, at, level, sessionId, text } = item
      const data = { level, session_id: sessionId, text }
      await send({ id: `${name}:${id}`, body: { type: `line.${level}`, timestamp: isoTime(at), data } }, signal)
    },
    trouble,
    close: async () => {},
  }
}

export function createWebhook(options: WebhookOptions): OperatorChannel {
  const { settings, feedView, traceOf, clock } = options
  const name = `webhook:${settings.name}`
  const { send, trouble } = createSender(name, options)

  function bodyOf({ item, count }: Delivery): object {
    if (item === null) return { type: 'feed.missed', timestamp: isoTime(clock.now()), data: { count } }
    const data = feedView(item)
    return { type: `${data.kind}.${data.status}`, timestamp: isoTime(item.at), data }
  }

  return {
    name,
    surface: 'remote',
    concerns: (item) => isOfKind(item, settings.kinds),
    async deliver(delivery, signal) {
      const trace = delivery.item === null ? undefined : await traceOf(delivery.item)
      await send({ id: idOf(name, delivery), body: bodyOf(delivery), trace }, signal)
      return null
    },
    trouble,
    close: async () => {},
  }
}

/** A summary that grows is another message. */
const idOf = (name: string, { n, item, count }: Delivery): string =>
  item === null ? `${name}:${n}:${count}` : `${name}:${n}`

// Signs what a webhook gets, as Standard Webhooks 1.0 says, so that receivers can use the libraries of that standard.

interface WebhookMessage {
  /** The same for every try. Receivers drop what they have. It holds no full stop, because full stops separate what is signed. */
  id: string
  /** Epoch ms of this try. Receivers refuse old ones. */
  at: number
  body: string
}

const PREFIX = 'whsec_'

/** The headers of a message. `secret` is `whsec_` and base64. */
export function webhookHeaders(secret: string, { id, at, body }: WebhookMessage): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000))
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}
