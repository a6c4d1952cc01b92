// Signing in to the console, devices, passkeys, and proofs with a passkey. For operators.

import { at, type CallOptions, type Calls } from './connection.ts'
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

/** After `passkey_required`: ask for a challenge, let the browser answer it, and send the same again with `encodeProof` of both. */
export interface WithProof {
  /** From `encodeProof`. It counts once, for what its challenge was asked for. */
  passkey?: string
}

/** A token or a device of the server, a token of an identity provider, or a proxy in front of the server. */
export type SignedInBy = Me['signed_in_by']

export type TokenScope = NonNullable<Token['scopes']>[number]

export interface SignInOptions extends CallOptions, WithProof {
  /** Left out: the client's token must be the operator's, or `passkey` answers `signInChallenge`. */
  code?: string
  label?: string
  /** Stay signed in for 30 days without use. */
  keep?: boolean
}

export interface SignInClient {
  /** Throws `passkey_required`; its problem has `passkey`: a `PasskeyChallenge`, or null if this person has no passkey here. */
  signIn(options?: SignInOptions): Promise<SignedIn>
  /** What the browser needs to sign somebody in with a passkey alone, whoever they are. */
  signInChallenge(options?: CallOptions): Promise<PasskeyChallenge>
  /** Refuses nobody, and needs no token. */
  who(options?: CallOptions): Promise<Who>
  /** Revokes the console token of this client. */
  signOut(options?: CallOptions): Promise<void>
  me(options?: CallOptions): Promise<Me>
  devices: {
    list(options?: CallOptions): Promise<Device[]>
    revoke(id: string, options?: CallOptions): Promise<void>
    /** A code for a new device, of yourself or of somebody else. */
    makeCode(options?: CallOptions & WithProof & { user?: string }): Promise<Code>
  }
  passkeys: {
    list(options?: CallOptions): Promise<PasskeyList>
    /** What the browser needs to make one. */
    options(options?: CallOptions): Promise<PasskeyChallenge>
    /** `response`: what the browser made, as JSON. */
    add(
      made: { challenge_id: string; response: unknown; label?: string; code?: string },
      options?: CallOptions & WithProof,
    ): Promise<Passkey>
    remove(id: string, options?: CallOptions & WithProof): Promise<void>
    /** What the browser needs for a proof. */
    challenge(purpose: ProofPurpose, options?: CallOptions): Promise<PasskeyChallenge>
  }
  /** Oldest first, without those of the settings. */
  tokens(options?: CallOptions): Promise<Token[]>
  createToken(token: NewToken, options?: CallOptions & WithProof): Promise<CreatedToken>
  revokeToken(id: string, options?: CallOptions): Promise<void>
}

export function createSignIn({ get, post, postOnce, empty, remove }: Calls): SignInClient {
  return {
    signIn: ({ signal, passkey, ...body } = {}) => postOnce('/sign-in', body, { signal, passkey }),
    signInChallenge: (options) => post('/sign-in/challenges', {}, options),
    who: (options) => get('/sign-in', options),
    signOut: ({ signal } = {}) => empty({ method: 'POST', path: '/sign-out', body: {}, signal }),
    me: (options) => get('/me', options),
    devices: {
      list: async (options) => (await get<{ devices: Device[] }>('/devices', options)).devices,
      revoke: (id, options) => remove(at('devices', id), options),
      makeCode: ({ signal, passkey, ...body } = {}) => postOnce('/devices/codes', body, { signal, passkey }),
    },
    passkeys: {
      list: (options) => get('/passkeys', options),
      options: (options) => post('/passkeys/options', {}, options),
      add: (made, options) => postOnce('/passkeys', made, options),
      remove: (id, options) => remove(at('passkeys', id), options),
      challenge: (purpose, options) => post('/passkeys/challenges', { for: purpose }, options),
    },
    tokens: async (options) => (await get<{ tokens: Token[] }>('/tokens', options)).tokens,
    createToken: (body, options) => postOnce('/tokens', body, options),
    revokeToken: (id, options) => remove(at('tokens', id), options),
  }
}

/** The proof for `passkey`. `response`: what the browser answered to the challenge, as JSON (`credential.toJSON()`). */
export function encodeProof({ challenge_id }: Pick<PasskeyChallenge, 'challenge_id'>, response: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ challenge_id, response }))
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
