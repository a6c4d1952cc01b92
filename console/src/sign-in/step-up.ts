// Some things need a passkey once somebody has one: a token can be stolen by a program of the same user, a fingerprint cannot.

import { ClientError, createClient, type ProofPurpose } from 'quarterdeck/client'
import { serverUrl } from '../base.ts'
import { BY_PROXY, credentialOf, currentToken } from './device-token.ts'
import { hasPasskeys, provePasskey } from './passkey.ts'

/**
 * Calls without a proof first. If the server wants one, it asks for the passkey and calls once more. Throws `PasskeyCancelled` if the
 * person does not want to.
 */
export async function withProof<T>(
  purpose: ProofPurpose,
  call: (proof: { passkey?: string }) => Promise<T>,
): Promise<T> {
  try {
    return await call({})
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'passkey_required' || !hasPasskeys()) throw error
    const client = createClient({ url: serverUrl, ...credentialOf(currentToken() ?? BY_PROXY), retries: 1 })
    return call({ passkey: await provePasskey(await client.passkeys.challenge(purpose)) })
  }
}
