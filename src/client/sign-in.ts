// Signing in to the console, devices, passkeys, and proofs with a passkey. For operators.

import type { Call } from './connection.ts'
import type { Remembered } from './wire.ts'

interface Signalled {
  signal?: AbortSignal
}

/** After `passkey_required`: ask for a challenge, let the browser answer it, and send the same again with `encodeProof` of both. */
export interface WithProof {
  /** From `encodeProof`. It counts once, for what its challenge was asked for. */
  passkey?: string
}

export interface Device {
  device_id: string
  user: string
  label: string
  created_at: string
  last_used_at: string
  /** When it is signed out if nobody uses it. */
  expires_at: string
  /** Signed in for 30 days without use, and not for 12 hours. */
  kept: boolean
  /** It is the one that asks. */
  current: boolean
}

export interface SignedIn {
  /** A console token. It is not shown again. */
  token: string
  user: string
  device: Device
}

/** Whether somebody is signed in, and by what. */
export interface Who {
  /** Null: nobody is. */
  user: string | null
  role: 'public' | 'user' | 'operator'
  signed_in_by: SignedInBy | null
}

/** A token or a device of the server, a token of an identity provider, or a proxy in front of the server. */
export type SignedInBy = 'token' | 'device' | 'oidc' | 'proxy'

export interface Me {
  user: string
  /** Whose sessions this person begins. */
  owner: string
  role: 'operator'
  /** May decide for every owner. */
  admin: boolean
  signed_in_by: SignedInBy
  /** Groups that the identity provider or the proxy puts this person into. */
  groups: string[]
  email: string | null
  /** Null: the token is not of a device. */
  device: Device | null
  passkeys: {
    /** Of all people. From one on, some things need a proof. */
    registered: number
    mine: number
    /** Browsers have passkeys for the address that was asked. */
    possible: boolean
    why_not: string | null
  }
  version: string
  /** How to type the program where the server was started. The flag leads a command to this server, with a space before it, or is empty. */
  program: { name: string; data_dir_flag: string }
  /** The default agent. */
  agent: string | null
  operators: string[]
}

export interface Code {
  code: string
  /** Opens the console and signs in. */
  url: string
  expires_at: string
}

export interface Passkey {
  passkey_id: string
  user: string
  label: string
  created_at: string
  last_used_at: string | null
}

export interface PasskeyList {
  passkeys: Passkey[]
  possible: boolean
  why_not: string | null
}

/** `options` are for `PublicKeyCredential.parseRequestOptionsFromJSON`, or `parseCreationOptionsFromJSON` for a new passkey. */
export interface PasskeyChallenge {
  challenge_id: string
  options: Record<string, unknown>
}

/** What a proof is for. It counts for nothing else. */
export type ProofPurpose =
  | {
      kind: 'decision'
      approval_id: string
      /** Of what was shown. */
      digest: string
      decision: 'approve' | 'respond'
      /** With all that the decision itself brings: the proof counts for nothing else. */
      arguments?: Record<string, unknown>
      content?: string
      force?: boolean
      result?: unknown
      remember?: 'session' | 'always'
      grant?: NonNullable<Remembered['grant']>
    }
  | { kind: 'device_code' }
  | { kind: 'passkey' }
  | { kind: 'token' }

export interface NewToken {
  role: 'user' | 'operator' | 'agent'
  user?: string
  name?: string
  workspace?: string
  channel?: string
  /** All that it may do of what its role may. */
  scopes?: TokenScope[]
  /** The only agent that it may talk to. */
  agent?: string
  /** In how many seconds it ends. */
  expires_in?: number
}

export type TokenScope = 'read' | 'talk' | 'decide' | 'manage'

/** A token that can be revoked. Its text is never shown. */
export interface Token extends Required<Pick<NewToken, 'role' | 'user' | 'name'>> {
  id: string
  workspace?: string
  channel?: string
  scopes?: TokenScope[]
  agent?: string
  expires_at?: string
  created_at: string
}

export interface CreatedToken extends Token {
  /** Its text. It is not shown again. */
  token: string
}

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
