// What the browser does with passkeys: answer a challenge of the server, and make a new one.

import { encodeProof, type PasskeyChallenge } from 'quarterdeck/client'
import { creationOptions, credentialJson, requestOptions } from './credential-json.ts'

/** The person closed the browser's question, or let it time out. Nothing is wrong. */
export class PasskeyCancelled extends Error {
  constructor(cause: unknown) {
    super('You did not confirm with your passkey, so nothing was done.', { cause })
    this.name = 'PasskeyCancelled'
  }
}

/** Only browsers in a safe place have it. */
export const hasPasskeys = (): boolean => typeof PublicKeyCredential !== 'undefined'

/** Lets the person confirm. Returns the proof. Throws `PasskeyCancelled`. */
export async function provePasskey(challenge: PasskeyChallenge): Promise<string> {
  // The server makes the options, and the browser checks them.
  const json = challenge.options as unknown as PublicKeyCredentialRequestOptionsJSON
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON?.(json) ?? requestOptions(json)
  return encodeProof(challenge, await answerOf(() => navigator.credentials.get({ publicKey })))
}

/** Lets the person make a passkey. Returns what the server wants to know about it. Throws `PasskeyCancelled`. */
export async function makePasskey(challenge: PasskeyChallenge): Promise<unknown> {
  const json = challenge.options as unknown as PublicKeyCredentialCreationOptionsJSON
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON?.(json) ?? creationOptions(json)
  return answerOf(() => navigator.credentials.create({ publicKey }))
}

async function answerOf(ask: () => Promise<Credential | null>): Promise<unknown> {
  const credential = await ask().catch((error: unknown) => {
    throw errorOf(error)
  })
  if (!(credential instanceof PublicKeyCredential)) throw new Error('The browser has no passkey for this console.')
  return credentialJson(credential)
}

function errorOf(error: unknown): unknown {
  const name = error instanceof DOMException ? error.name : ''
  if (name === 'NotAllowedError' || name === 'AbortError') return new PasskeyCancelled(error)
  if (name === 'InvalidStateError') return new Error('This device has a passkey for this console already.')
  if (name === 'SecurityError') {
    return new Error('The browser has no passkeys for this address. Open the console by its name, over TLS.')
  }
  return error
}
