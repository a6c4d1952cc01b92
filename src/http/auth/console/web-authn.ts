// WebAuthn, by a library. It is loaded at the first use: a start must not pay for it, and most servers never need it.

import { z } from 'zod'
import type { Challenge } from './challenges.ts'
import type { Passkey } from './passkeys.ts'

const library = () => import('@simplewebauthn/server')

const TIMEOUT_MS = 2 * 60_000
/** Ed25519, P-256 and RSA: what every authenticator has at least one of. */
const ALGORITHMS = [-8, -7, -257]

const text = z.string().max(8_000)
const credential = {
  id: text.min(1),
  rawId: text.min(1),
  type: z.literal('public-key'),
  authenticatorAttachment: z.unknown().optional(),
  clientExtensionResults: z.unknown().optional(),
}

/** What `navigator.credentials.get` gives, as JSON. */
export const AssertionSchema = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: text,
    authenticatorData: text,
    signature: text,
    userHandle: text.nullish(),
  }),
})
export type Assertion = z.infer<typeof AssertionSchema>

/** What `navigator.credentials.create` gives, as JSON. */
export const AttestationSchema = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: text,
    attestationObject: z.string().max(32_000),
    transports: z.array(z.string().max(30)).max(10).optional(),
    publicKeyAlgorithm: z.unknown().optional(),
    publicKey: z.unknown().optional(),
    authenticatorData: z.unknown().optional(),
  }),
})
export type Attestation = z.infer<typeof AttestationSchema>

export async function requestOptions({ challenge, place }: Challenge, passkeys: readonly Passkey[]) {
  const { generateAuthenticationOptions } = await library()
  return generateAuthenticationOptions({
    rpID: place.rpId,
    challenge: bytesOf(challenge),
    allowCredentials: passkeys.map(named),
    userVerification: 'required',
    timeout: TIMEOUT_MS,
  })
}

export async function creationOptions({ challenge, place }: Challenge, user: string, passkeys: readonly Passkey[]) {
  const { generateRegistrationOptions } = await library()
  return generateRegistrationOptions({
    rpName: 'Quarterdeck',
    rpID: place.rpId,
    userName: user,
    userDisplayName: user,
    challenge: bytesOf(challenge),
    attestationType: 'none',
    excludeCredentials: passkeys.map(named),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
    timeout: TIMEOUT_MS,
  })
}

/** The new counter of the passkey. Throws if the assertion does not prove that a person used it for this challenge. */
export async function checkAssertion(challenge: Challenge, sent: Assertion, passkey: Passkey): Promise<number> {
  const { verifyAuthenticationResponse } = await library()
  const { userHandle, ...response } = sent.response
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      id: sent.id,
      rawId: sent.rawId,
      type: sent.type,
      response: { ...response, ...(userHandle ? { userHandle } : {}) },
      clientExtensionResults: {},
    },
    ...expected(challenge),
    credential: { id: passkey.credentialId, publicKey: bytesOf(passkey.publicKey), counter: passkey.counter },
  })
  if (!verified) throw new Error('the signature is wrong')
  return authenticationInfo.newCounter
}

/** What is stored of a new passkey. Throws if it was not made for this challenge. */
export async function checkAttestation(
  challenge: Challenge,
  sent: Attestation,
): Promise<Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'>> {
  const { verifyRegistrationResponse } = await library()
  const { clientDataJSON, attestationObject, transports = [] } = sent.response
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: {
      id: sent.id,
      rawId: sent.rawId,
      type: sent.type,
      response: { clientDataJSON, attestationObject },
      clientExtensionResults: {},
    },
    ...expected(challenge),
    supportedAlgorithmIDs: ALGORITHMS,
  })
  if (!verified) throw new Error('the attestation is wrong')
  const { id, publicKey, counter } = registrationInfo.credential
  return { credentialId: id, publicKey: Buffer.from(publicKey).toString('base64url'), counter, transports }
}

const named = ({ credentialId, transports }: Passkey) => ({ id: credentialId, transports: [...transports] })

const expected = ({ challenge, place }: Challenge) => ({
  expectedChallenge: challenge,
  expectedOrigin: place.origin,
  expectedRPID: place.rpId,
  requireUserVerification: true,
})

const bytesOf = (base64url: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(base64url, 'base64url'))
