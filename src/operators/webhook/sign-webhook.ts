// Signs what a webhook gets, as Standard Webhooks 1.0 says, so that receivers can use the libraries of that standard.

import { createHmac } from 'node:crypto'

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
