import { createECDH } from 'node:crypto'
import { decrypt } from 'http_ece'
import { expect, test } from 'vitest'
import { browserKeysProblem, encryptPayload, MOST_PAYLOAD_BYTES } from './encrypt-payload.ts'

test('gives the bytes of the example in RFC 8291', () => {
  const keys = {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  }
  const made = {
    salt: Buffer.from('DGv6ra1nlYgDCS1FRnbzlw', 'base64url'),
    privateKey: Buffer.from('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw', 'base64url'),
  }
  const body = encryptPayload('When I grow up, I want to be a watermelon', keys, made)

  expect(Buffer.from(body).toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  )
})

test.each(['', 'Grüße 🌻', 'x'.repeat(MOST_PAYLOAD_BYTES)])(
  'http_ece reads what we encrypt, and no message looks like another',
  (text) => {
    const browser = createECDH('prime256v1')
    browser.generateKeys()
    const keys = { p256dh: browser.getPublicKey('base64url'), auth: 'BTBZMqHH6r4Tts7J_aSIgg' }
    const bodies = [encryptPayload(text, keys), encryptPayload(text, keys)].map((body) => Buffer.from(body))

    for (const body of bodies) {
      expect(body.length).toBeLessThanOrEqual(4_096)
      expect(decrypt(body, { version: 'aes128gcm', privateKey: browser, authSecret: keys.auth }).toString()).toBe(text)
    }
    expect(bodies[0]?.equals(bodies[1] ?? Buffer.alloc(0))).toBe(false)
  },
)

test('says what is wrong with the keys of a subscription', () => {
  const browser = createECDH('prime256v1')
  browser.generateKeys()
  const good = { p256dh: browser.getPublicKey('base64url'), auth: 'BTBZMqHH6r4Tts7J_aSIgg' }
  const offCurve = Buffer.from(good.p256dh, 'base64url').fill(7, 1).toString('base64url')

  expect(browserKeysProblem(good)).toBe(null)
  expect(browserKeysProblem({ ...good, auth: 'short' })).toContain('auth')
  for (const p256dh of ['', 'abc', offCurve]) expect(browserKeysProblem({ ...good, p256dh })).toContain('p256dh')
})
