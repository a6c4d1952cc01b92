// Encrypts what a push service passes on, so that only the browser can read it: RFC 8291, which is RFC 8188 (aes128gcm) with keys from
// the subscription. Our own code, because the usual library (web-push) opens its own connections, which would go past our check of
// addresses, and brings fourteen packages for what node:crypto does in a few lines. Tests compare it with the RFC and with http_ece.

import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'
import type { PushSubscription } from '../../domain/supervision/push-subscription.ts'

type BrowserKeys = PushSubscription['keys']

/** Services must take 4,096 bytes. This is what remains for the text. */
export const MOST_PAYLOAD_BYTES = 4_096 - 16 - 4 - 1 - 65 - 1 - 16

const RECORD_BYTES = 4_096
const CURVE = 'prime256v1'

/** Text of at most `MOST_PAYLOAD_BYTES` bytes, as one record. `made` is for tests: salt and private key are new for every message. */
export function encryptPayload(
  text: string,
  { p256dh, auth }: BrowserKeys,
  made: { salt: Uint8Array; privateKey: Uint8Array } | null = null,
): Uint8Array {
  const salt = made?.salt ?? randomBytes(16)
  const ours = createECDH(CURVE)
  if (made === null) ours.generateKeys()
  else ours.setPrivateKey(made.privateKey)
  const theirPublic = Buffer.from(p256dh, 'base64url')
  const ourPublic = ours.getPublicKey()
  const shared = ours.computeSecret(theirPublic)

  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), theirPublic, ourPublic])
  const secret = hkdf(shared, Buffer.from(auth, 'base64url'), keyInfo, 32)
  const key = hkdf(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = hkdf(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12)

  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  // The 2 says that this is the last record.
  const sealed = [cipher.update(text, 'utf8'), cipher.update(Uint8Array.of(2)), cipher.final(), cipher.getAuthTag()]
  const head = Buffer.alloc(5)
  head.writeUInt32BE(RECORD_BYTES)
  head.writeUInt8(ourPublic.length, 4)
  return Buffer.concat([salt, head, ourPublic, ...sealed])
}

/** What is wrong with the keys of a subscription, or null. */
export function browserKeysProblem({ p256dh, auth }: BrowserKeys): string | null {
  if (Buffer.from(auth, 'base64url').length !== 16) return 'auth must be 16 bytes as base64url.'
  try {
    const trial = createECDH(CURVE)
    trial.generateKeys()
    trial.computeSecret(Buffer.from(p256dh, 'base64url'))
    return null
  } catch {
    return 'p256dh must be a public key on P-256 as base64url.'
  }
}

const hkdf = (secret: Uint8Array, salt: Uint8Array, info: Uint8Array, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes))
