// Some things need a passkey once somebody has one: a token can be stolen by a program of the same user, a fingerprint cannot.

import { ClientError, createClient, encodeProof, type ProofPurpose } from 'quarterdeck/client'
import { serverUrl } from '../base.ts'
import { currentToken } from './device-token.ts'

/** Calls without a proof first. If the server wants one, it asks for the passkey and calls once more. */
export async function withProof<T>(purpose: ProofPurpose, call: (proof: string | undefined) => Promise<T>): Promise<T> {
  try {
    return await call(undefined)
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'passkey_required') throw error
    if (typeof PublicKeyCredential === 'undefined') throw error
    return call(await proofFor(purpose))
  }
}

async function proofFor(purpose: ProofPurpose): Promise<string> {
  const client = createClient({ url: serverUrl, token: currentToken() ?? '', retries: 1 })
  const challenge = await client.passkeys.challenge(purpose)
  // The server makes them, and the browser checks them.
  const options = challenge.options as unknown as PublicKeyCredentialRequestOptionsJSON
  const credential = await navigator.credentials
    .get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
    .catch((cause: unknown) => {
      throw new Error('The passkey did not answer, so nothing was done. Try again.', { cause })
    })
  if (!(credential instanceof PublicKeyCredential)) throw new Error('The browser has no passkey for this console.')
  return encodeProof(challenge, credential.toJSON())
}
