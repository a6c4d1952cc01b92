// A receiver of webhooks on this machine. It checks every message with the library of Standard Webhooks.

import { Webhook } from 'standardwebhooks'
import { onTestFinished } from 'vitest'
import { openService } from '../../../tools/http/testing/open-service.ts'
import { type Behaviour, misbehave } from '../../testing/misbehave.ts'

interface Received {
  id: string
  payload: unknown
}

interface WebhookStandIn {
  url: string
  /** Each message once, however often it came. */
  messages(): unknown[]
  /** Every message that was taken. */
  readonly received: Received[]
  /** The traces that the messages named. */
  readonly traces: (string | undefined)[]
  /** How the next requests end; those after them work. */
  behave(...next: Behaviour[]): void
}

export async function openReceiver(secret: string): Promise<WebhookStandIn> {
  const received: Received[] = []
  const traces: (string | undefined)[] = []
  const behaviours: Behaviour[] = []
  const service = await openService((response) => {
    if (misbehave(behaviours.shift() ?? 'works', response)) return
    const { headers, body } = service.requests.at(-1) ?? { headers: {}, body: '' }
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    try {
      received.push({ id: texts['webhook-id'] ?? '', payload: new Webhook(secret).verify(body, texts) })
      traces.push(texts.traceparent)
      response.writeHead(204).end()
    } catch {
      response.writeHead(401).end()
    }
  })
  onTestFinished(service.close)
  return {
    url: `${service.url}/hook?team=1`,
    messages: () => [...new Map(received.map(({ id, payload }) => [id, payload])).values()],
    received,
    traces,
    behave: (...next) => void behaviours.push(...next),
  }
}
