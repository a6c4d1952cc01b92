import { expect, test } from 'vitest'
import { base64urlOf, bytesOf, creationOptions, credentialJson, requestOptions } from './credential-json.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)

test('bytes survive the way to text and back, with letters that only base64url has', () => {
  const all = Uint8Array.from({ length: 256 }, (_, i) => i)

  expect(bytesOf(base64urlOf(all.buffer))).toEqual(all)
  expect(base64urlOf(bytes(0xfb, 0xff, 0xfe).buffer)).toBe('-__-')
})

test('the server’s options become what a browser takes', () => {
  const asked = requestOptions({
    challenge: 'AQID',
    rpId: 'localhost',
    timeout: 1_000,
    userVerification: 'required',
    allowCredentials: [{ id: 'BAU', type: 'public-key', transports: ['internal'] }],
    extensions: {},
  })
  const made = creationOptions({
    challenge: 'AQID',
    rp: { id: 'localhost', name: 'Quarterdeck' },
    user: { id: 'Bgc', name: 'ada', displayName: 'Ada' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
    excludeCredentials: [],
  })

  expect(asked).toEqual({
    challenge: bytes(1, 2, 3),
    rpId: 'localhost',
    timeout: 1_000,
    userVerification: 'required',
    allowCredentials: [{ id: bytes(4, 5), type: 'public-key', transports: ['internal'] }],
  })
  expect(made).toEqual({
    challenge: bytes(1, 2, 3),
    rp: { id: 'localhost', name: 'Quarterdeck' },
    user: { id: bytes(6, 7), name: 'ada', displayName: 'Ada' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
    excludeCredentials: [],
  })
})

test('the answer of an older browser, which cannot write JSON, is written here', () => {
  const answer = {
    id: 'BAU',
    rawId: bytes(4, 5).buffer,
    type: 'public-key',
    authenticatorAttachment: null,
    response: {
      clientDataJSON: bytes(1).buffer,
      authenticatorData: bytes(2).buffer,
      signature: bytes(3).buffer,
      userHandle: null,
    },
  } as unknown as PublicKeyCredential

  expect(credentialJson(answer)).toEqual({
    id: 'BAU',
    rawId: 'BAU',
    type: 'public-key',
    response: { clientDataJSON: 'AQ', authenticatorData: 'Ag', signature: 'Aw' },
    clientExtensionResults: {},
  })
})
