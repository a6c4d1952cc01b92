// Tells push services who sends: RFC 8292. A browser binds its subscription to our public key, so nobody else can use it.

import { createECDH, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { Clock } from '../../domain/clock.ts'

export interface VapidKeys {
  /** An uncompressed point on P-256, base64url: the `applicationServerKey` of browsers. */
  publicKey: string
  /** 32 bytes, base64url. */
  privateKey: string
}

/** Services refuse tokens that are valid for more than 24 hours, and some do not like to see a new one with every message. */
const VALID_MS = 12 * 60 * 60 * 1_000
const RENEW_MS = 60 * 60 * 1_000
/** Each browser vendor has one or two push services. */
const MOST_SERVICES = 100

export function createVapidKeys(): VapidKeys {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  // Without its leading zeros the private key would be too short for a JWK.
  const privateKey = Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex')
  return { publicKey: pair.getPublicKey('base64url'), privateKey: privateKey.toString('base64url') }
}

/** Gives the `authorization` header for a push service. `contact`: where its operators can write to, `mailto:` or `https:`. */
export function createVapid(
  { publicKey, privateKey }: VapidKeys,
  { contact, clock }: { contact: string | null; clock: Pick<Clock, 'now'> },
): (endpoint: URL) => string {
  const key = keyObjectOf({ publicKey, privateKey })
  const tokens = new Map<string, { token: string; expiresAt: number }>()

  function tokenFor(audience: string): string {
    const now = clock.now()
    const kept = tokens.get(audience)
    if (kept !== undefined && kept.expiresAt - now > RENEW_MS && kept.expiresAt - now <= VALID_MS) return kept.token
    const expiresAt = now + VALID_MS
    const claims = {
      aud: audience,
      exp: Math.floor(expiresAt / 1_000),
      ...(contact === null ? {} : { sub: contact }),
    }
    const signed = `${encoded({ typ: 'JWT', alg: 'ES256' })}.${encoded(claims)}`
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
    const token = `${signed}.${signature.toString('base64url')}`
    if (tokens.size >= MOST_SERVICES) tokens.clear()
    tokens.set(audience, { token, expiresAt })
    return token
  }

  return ({ origin }) => `vapid t=${tokenFor(origin)}, k=${publicKey}`
}

function keyObjectOf({ publicKey, privateKey }: VapidKeys): KeyObject {
  const point = Buffer.from(publicKey, 'base64url')
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d: privateKey }, format: 'jwk' })
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
