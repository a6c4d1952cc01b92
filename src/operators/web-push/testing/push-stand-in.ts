// A push service on this machine, and the browsers behind it. It refuses what a real service refuses: a wrong signature, another key than
// the browser was given, too large a message. The browsers decrypt with another implementation than ours, and show what they get.

import { createECDH, createPublicKey, type ECDH, verify } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { decrypt } from 'http_ece'
import { onTestFinished } from 'vitest'
import { type Behaviour, misbehave } from '../../testing/misbehave.ts'

interface Shown {
  title: string
  body: string
  tag: string
  url: string
  risk: string | null
  silent: boolean
}

interface Browser {
  /** As `PushSubscription.toJSON` gives it. */
  subscription: { endpoint: string; keys: { p256dh: string; auth: string } }
  /** The notifications that it shows now, oldest first. */
  shown(): Shown[]
  /** Every message that came, with the headers that rule how it is passed on. */
  readonly messages: { urgency: string; ttl: string; topic: string; payload: Shown }[]
  /** Its user takes the permission back. */
  leave(): void
}

interface PushStandIn {
  origin: string
  /** A browser that takes messages from whoever has the private part of this key. */
  subscribe(applicationServerKey: string): Browser
  /** How the next requests end; those after them work. */
  behave(...next: Behaviour[]): void
  /** Requests so far, also those that were refused. */
  requests(): number
}

interface Registered {
  ecdh: ECDH
  authSecret: string
  serverKey: string
  take: Browser['messages']
  hasLeft: boolean
}

export async function openPushService(): Promise<PushStandIn> {
  const browsers = new Map<string, Registered>()
  const behaviours: Behaviour[] = []
  let requests = 0

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    requests += 1
    if (misbehave(behaviours.shift() ?? 'works', response)) return
    const browser = browsers.get(request.url ?? '')
    const status = browser === undefined ? 404 : browser.hasLeft ? 410 : statusFor(request, body, browser, origin)
    if (browser !== undefined && status === 201) {
      const plain = decrypt(body, { version: 'aes128gcm', privateKey: browser.ecdh, authSecret: browser.authSecret })
      const { urgency = '', ttl = '', topic = '' } = request.headers
      browser.take.push({
        urgency: `${urgency}`,
        ttl: `${ttl}`,
        topic: `${topic}`,
        payload: JSON.parse(plain.toString()),
      })
    }
    response.writeHead(status).end()
  }

  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const origin = `http://127.0.0.1:${address.port}`

  return {
    origin,
    subscribe(serverKey) {
      const ecdh = createECDH('prime256v1')
      ecdh.generateKeys()
      const path = `/push/${browsers.size + 1}`
      const authSecret = Buffer.from(`secret of ${path}`.padEnd(16).slice(0, 16)).toString('base64url')
      const registered: Registered = { ecdh, authSecret, serverKey, take: [], hasLeft: false }
      browsers.set(path, registered)
      return {
        subscription: {
          endpoint: `${origin}${path}`,
          keys: { p256dh: ecdh.getPublicKey('base64url'), auth: authSecret },
        },
        shown() {
          const shown = new Map<string, Shown>()
          for (const { payload } of registered.take) shown.set(payload.tag, payload)
          return [...shown.values()]
        },
        messages: registered.take,
        leave() {
          registered.hasLeft = true
        },
      }
    },
    behave: (...next) => void behaviours.push(...next),
    requests: () => requests,
  }
}

function statusFor({ headers }: IncomingMessage, body: Buffer, browser: Registered, origin: string): number {
  const { ttl, urgency, topic } = headers
  if (!/^\d+$/.test(`${ttl}`) || headers['content-encoding'] !== 'aes128gcm') return 400
  if (!['very-low', 'low', 'normal', 'high'].includes(`${urgency}`) || !/^[\w-]{1,32}$/.test(`${topic}`)) return 400
  if (body.length > 4_096) return 413
  const [, token = '', key = ''] = /^vapid t=([^,]+), k=([\w-]+)$/.exec(headers.authorization ?? '') ?? []
  if (key !== browser.serverKey) return 403
  return isGenuine(token, key, origin) ? 201 : 401
}

function isGenuine(token: string, key: string, audience: string): boolean {
  const [head = '', claims = '', signature = ''] = token.split('.')
  const point = Buffer.from(key, 'base64url')
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const sealed = Buffer.from(signature, 'base64url')
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    sealed,
  )
  const { aud, exp, sub }: { aud: string; exp: number; sub: string } = JSON.parse(
    Buffer.from(claims, 'base64url').toString(),
  )
  const seconds = Date.now() / 1_000
  return isSigned && aud === audience && exp > seconds && exp <= seconds + 24 * 60 * 60 && sub.startsWith('mailto:')
}
