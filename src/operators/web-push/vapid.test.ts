import { createPublicKey, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { createVapid, createVapidKeys } from './vapid.ts'

const HOUR_MS = 60 * 60 * 1_000

/** The claims of a header whose signature is right. */
function claimsOf(header: string): Record<string, unknown> {
  const [, token = '', key = ''] = /^vapid t=([^,]+), k=([\w-]+)$/.exec(header) ?? []
  const [head = '', claims = '', signature = ''] = token.split('.')
  const point = Buffer.from(key, 'base64url')
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const signed = Buffer.from(`${head}.${claims}`)
  const isGenuine = verify(
    'sha256',
    signed,
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  if (!isGenuine) throw new Error('the signature is wrong')
  return JSON.parse(Buffer.from(claims, 'base64url').toString())
}

test('signs who we are, for one service and half a day, and keeps the token while it is fresh', () => {
  let now = 1_000_000
  const keys = createVapidKeys()
  const vapid = createVapid(keys, { contact: 'mailto:ada@example.com', clock: { now: () => now } })
  const first = vapid(new URL('https://push.example.com/abc'))

  expect(claimsOf(first)).toEqual({
    aud: 'https://push.example.com',
    exp: 1_000 + 12 * 3_600,
    sub: 'mailto:ada@example.com',
  })
  expect(first.endsWith(keys.publicKey)).toBe(true)
  expect(claimsOf(vapid(new URL('https://other.example.com:444/x')))).toMatchObject({
    aud: 'https://other.example.com:444',
  })
  now += 10 * HOUR_MS
  expect(vapid(new URL('https://push.example.com/def'))).toBe(first)
  now += 1.5 * HOUR_MS
  expect(claimsOf(vapid(new URL('https://push.example.com/abc'))).exp).toBe(Math.floor(now / 1_000) + 12 * 3_600)
  // The clock was set back: a token of the future would be refused.
  now -= 20 * HOUR_MS
  expect(claimsOf(vapid(new URL('https://push.example.com/abc'))).exp).toBe(Math.floor(now / 1_000) + 12 * 3_600)
})

test('names no contact if there is none, and the keys have their full length', () => {
  const vapid = createVapid(createVapidKeys(), { contact: null, clock: { now: () => 0 } })
  const lengths = new Set<string>()
  for (let i = 0; i < 50; i += 1) {
    const { publicKey, privateKey } = createVapidKeys()
    lengths.add(`${publicKey.length} ${privateKey.length}`)
  }

  expect(Object.keys(claimsOf(vapid(new URL('https://push.example.com'))))).toEqual(['aud', 'exp'])
  expect([...lengths]).toEqual(['87 43'])
})
