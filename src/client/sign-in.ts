// Signing in to the console, devices, passkeys, and proofs with a passkey. For operators.

import type { Call } from './connection.ts'
import type {
  Code,
  CreatedToken,
  Device,
  Me,
  NewToken,
  Passkey,
  PasskeyChallenge,
  PasskeyList,
  ProofPurpose,
  SignedIn,
  Token,
  Who,
} from './wire.ts'

interface Signalled {
  signal?: AbortSignal
}

/** After `passkey_required`: ask for a challenge, let the browser answer it, and send the same again with `encodeProof` of both. */
export interface WithProof {
  /** From `encodeProof`. It counts once, for what its challenge was asked for. */
  passkey?: string
}

/** A token or a device of the server, a token of an identity provider, or a proxy in front of the server. */
export type SignedInBy = Me['signed_in_by']

export type TokenScope = NonNullable<Token['scopes']>[number]

export interface SignInOptions extends Signalled, WithProof {
  /** Left out: the client's token must be the operator's. */
  code?: string
  label?: string
  /** Stay signed in for 30 days without use. */
  keep?: boolean
}

export interface SignInClient {
  /** Throws `passkey_required`; its problem has `passkey`: a `PasskeyChallenge`, or null if this person has no passkey here. */
  signIn(options?: SignInOptions): Promise<SignedIn>
  /** Refuses nobody, and needs no token. */
  who(options?: Signalled): Promise<Who>
  /** Revokes the console token of this client. */
  signOut(options?: Signalled): Promise<void>
  me(options?: Signalled): Promise<Me>
  devices: {
    list(options?: Signalled): Promise<Device[]>
    revoke(id: string, options?: Signalled): Promise<void>
    /** A code for a new device, of yourself or of somebody else. */
    makeCode(options?: Signalled & WithProof & { user?: string }): Promise<Code>
  }
  passkeys: {
    list(options?: Signalled): Promise<PasskeyList>
    /** What the browser needs to make one. */
    options(options?: Signalled): Promise<PasskeyChallenge>
    /** `response`: what the browser made, as JSON. */
    add(
      made: { challenge_id: string; response: unknown; label?: string; code?: string },
      options?: Signalled & WithProof,
    ): Promise<Passkey>
    remove(id: string, options?: Signalled & WithProof): Promise<void>
    /** What the browser needs for a proof. */
    challenge(purpose: ProofPurpose, options?: Signalled): Promise<PasskeyChallenge>
  }
  /** Oldest first, without those of the settings. */
  tokens(options?: Signalled): Promise<Token[]>
  createToken(token: NewToken, options?: Signalled & WithProof): Promise<CreatedToken>
  revokeToken(id: string, options?: Signalled): Promise<void>
}

interface SignInDeps {
  /** Retries if that can help. */
  json: <T>(call: Call) => Promise<T>
  /** Never retries. */
  jsonOnce: <T>(call: Call) => Promise<T>
  empty: (call: Call) => Promise<void>
}

export function createSignIn({ json, jsonOnce, empty }: SignInDeps): SignInClient {
  return {
    signIn: ({ signal, passkey, ...body } = {}) =>
      jsonOnce({ method: 'POST', path: '/sign-in', headers: proofHeaders(passkey), body, signal }),
    who: ({ signal } = {}) => json({ method: 'GET', path: '/sign-in', signal }),
    signOut: ({ signal } = {}) => empty({ method: 'POST', path: '/sign-out', body: {}, signal }),
    me: ({ signal } = {}) => json({ method: 'GET', path: '/me', signal }),
    devices: {
      list: async ({ signal } = {}) =>
        (await json<{ devices: Device[] }>({ method: 'GET', path: '/devices', signal })).devices,
      revoke: (id, { signal } = {}) => empty({ method: 'DELETE', path: `/devices/${encodeURIComponent(id)}`, signal }),
      makeCode: ({ signal, passkey, ...body } = {}) =>
        jsonOnce({ method: 'POST', path: '/devices/codes', headers: proofHeaders(passkey), body, signal }),
    },
    passkeys: {
      list: ({ signal } = {}) => json({ method: 'GET', path: '/passkeys', signal }),
      options: ({ signal } = {}) => json({ method: 'POST', path: '/passkeys/options', body: {}, signal }),
      add: (made, { signal, passkey } = {}) =>
        jsonOnce({ method: 'POST', path: '/passkeys', headers: proofHeaders(passkey), body: made, signal }),
      remove: (id, { signal, passkey } = {}) =>
        empty({
          method: 'DELETE',
          path: `/passkeys/${encodeURIComponent(id)}`,
          headers: proofHeaders(passkey),
          signal,
        }),
      challenge: (purpose, { signal } = {}) =>
        json({ method: 'POST', path: '/passkeys/challenges', body: { for: purpose }, signal }),
    },
    tokens: async ({ signal } = {}) =>
      (await json<{ tokens: Token[] }>({ method: 'GET', path: '/tokens', signal })).tokens,
    createToken: (body, { signal, passkey } = {}) =>
      jsonOnce({ method: 'POST', path: '/tokens', headers: proofHeaders(passkey), body, signal }),
    revokeToken: (id, { signal } = {}) =>
      empty({ method: 'DELETE', path: `/tokens/${encodeURIComponent(id)}`, signal }),
  }
}

/** The proof for `passkey`. `response`: what the browser answered to the challenge, as JSON (`credential.toJSON()`). */
export function encodeProof({ challenge_id }: Pick<PasskeyChallenge, 'challenge_id'>, response: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ challenge_id, response }))
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

export const proofHeaders = (passkey: string | undefined): Record<string, string> =>
  passkey === undefined ? {} : { 'X-Passkey': passkey }
