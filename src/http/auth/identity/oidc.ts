// Tokens of OpenID Connect providers. A token is checked once and then remembered until it ends, so that the requests after it cost
// nothing. The library is loaded when the first token comes.

import type { JSONWebKeySet, JWTPayload, JWTVerifyOptions } from 'jose'
import type { Clock } from '../../../domain/clock.ts'
import type { ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { Logger } from '../../../domain/logger.ts'
import type { IssuerSettings } from '../../../domain/settings/identity-settings.ts'
import { digestOf } from '../tokens/token.ts'
import { personOfClaims } from './claims.ts'
import { createRoleOf, type Identity, invalidToken, type ListedOperators, type RoleOf } from './identity.ts'
import { createIssuerKeys, type IssuerKeys } from './issuer-keys.ts'

export interface Oidc {
  /**
   * Whose token this is. A promise only for a token that was not seen before. Throws, or rejects with, `unauthorized`, `forbidden` and
   * `identity_unavailable`. Null: it does not look like a token of a provider.
   */
  check(token: string): Identity | Promise<Identity> | null
}

interface OidcDeps {
  issuers: readonly IssuerSettings[]
  listed: ListedOperators
  fetch: typeof fetch
  clock: Clock
  log: Logger
}

interface Trusted {
  issuer: IssuerSettings
  keys: IssuerKeys
  roleOf: RoleOf
}

type Jose = typeof import('jose')

const MAX_CHARS = 12_000
const MOST_REMEMBERED = 5_000
/** A token without a key id may fit several keys. */
const MOST_TRIED_KEYS = 5
/** Signed, with three parts. An encrypted one has five. */
const SIGNED = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/
const ENCRYPTED = /^eyJ[\w-]+(?:\.[\w-]*){4}$/

export function createOidc({ issuers, listed, fetch, clock, log }: OidcDeps): Oidc {
  const trusted = new Map<string, Trusted>(
    issuers.map((issuer) => [
      issuer.issuer,
      { issuer, keys: createIssuerKeys({ issuer, fetch, clock, log }), roleOf: createRoleOf(issuer.roles, listed) },
    ]),
  )
  /** By the hash of the token. The oldest is first. */
  const known = new Map<string, Identity>()
  const checking = new Map<string, Promise<Identity>>()
  let loading: Promise<Jose> | null = null

  async function verify(token: string, key: string): Promise<Identity> {
    loading ??= import('jose')
    const jose = await loading
    const found = trustedOf(trusted, token)
    const claims = await claimsOf(jose, token, found, clock)
    const person = personOfClaims(claims, found.issuer, found.roleOf)
    const identity = { ...person, endsAt: ((claims.exp ?? 0) + found.issuer.clockToleranceSeconds) * 1000 }
    if (known.size >= MOST_REMEMBERED) {
      const oldest = known.keys().next()
      if (!oldest.done) known.delete(oldest.value)
    }
    known.set(key, identity)
    return identity
  }

  return {
    check(token) {
      if (!SIGNED.test(token)) {
        if (!ENCRYPTED.test(token)) return null
        throw invalidToken('encrypted', 'The token is encrypted. Send a signed one.')
      }
      if (token.length > MAX_CHARS) {
        throw invalidToken(
          'malformed',
          `The token has more than ${MAX_CHARS} characters. Let the issuer put fewer claims into it.`,
        )
      }
      const key = digestOf(token)
      const identity = known.get(key)
      if (identity !== undefined) {
        if (clock.now() < identity.endsAt) return identity
        known.delete(key)
      }
      const running = checking.get(key)
      if (running !== undefined) return running
      const started = verify(token, key).finally(() => checking.delete(key))
      checking.set(key, started)
      return started
    },
  }
}

/** By the issuer that the token names. Nothing of it is trusted yet. */
function trustedOf(all: ReadonlyMap<string, Trusted>, token: string): Trusted {
  const [, payload = ''] = token.split('.')
  let claims: unknown
  try {
    claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
  } catch {
    throw malformed()
  }
  if (!isRecord(claims)) throw malformed()
  const found = typeof claims.iss === 'string' ? all.get(claims.iss) : undefined
  if (found !== undefined) return found
  throw invalidToken('unknown_issuer', 'The token is of an issuer that this server does not trust.')
}

const malformed = (): ServerError =>
  invalidToken('malformed', 'The token cannot be read. Send an access token of your identity provider.')

async function claimsOf(jose: Jose, token: string, { issuer, keys }: Trusted, clock: Clock): Promise<JWTPayload> {
  const options: JWTVerifyOptions = {
    issuer: issuer.issuer,
    audience: [...issuer.audience],
    algorithms: [...issuer.algorithms],
    clockTolerance: issuer.clockToleranceSeconds,
    currentDate: new Date(clock.now()),
    requiredClaims: ['exp'],
  }
  try {
    const { typ = 'JWT' } = headerOf(jose, token)
    // Other kinds, such as logout tokens, are signed with the same keys.
    if (typeof typ !== 'string' || !/^(?:application\/)?(?:at\+)?jwt$/i.test(typ)) {
      throw invalidToken('wrong_type', 'The token is not an access token or an ID token.')
    }
    const first = await keys.current()
    try {
      return await verifyWith(jose, token, first, options)
    } catch (error) {
      if (!(error instanceof jose.errors.JWKSNoMatchingKey)) throw error
      const second = await keys.again(first)
      if (second === null) throw error
      return await verifyWith(jose, token, second, options)
    }
  } catch (error) {
    throw faultOf(jose, error)
  }
}

function headerOf(jose: Jose, token: string): { typ?: unknown } {
  try {
    return jose.decodeProtectedHeader(token)
  } catch {
    throw malformed()
  }
}

async function verifyWith(
  jose: Jose,
  token: string,
  keys: JSONWebKeySet,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jose.jwtVerify(token, jose.createLocalJWKSet(keys), options)).payload
  } catch (error) {
    if (!(error instanceof jose.errors.JWKSMultipleMatchingKeys)) throw error
    let last: unknown = error
    let tried = 0
    for await (const key of error) {
      if (tried === MOST_TRIED_KEYS) break
      tried += 1
      try {
        return (await jose.jwtVerify(token, key, options)).payload
      } catch (failure) {
        if (!(failure instanceof jose.errors.JWSSignatureVerificationFailed)) throw failure
        last = failure
      }
    }
    throw last
  }
}

/** What a person can do about it. The library's own words quote what the server expects. */
function faultOf({ errors }: Jose, error: unknown): unknown {
  // The issuer publishes a key that is none.
  if (error instanceof DOMException) return unknownKey()
  if (!(error instanceof errors.JOSEError)) return error
  if (error instanceof errors.JWTExpired) {
    return invalidToken('expired', 'The token has expired. Get a new one from your identity provider.')
  }
  if (error instanceof errors.JWTClaimValidationFailed) return claimFault(error)
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) {
    return invalidToken('wrong_algorithm', 'The token is signed in a way that this server does not take.')
  }
  if (error instanceof errors.JWKSNoMatchingKey) return unknownKey()
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSMultipleMatchingKeys) {
    return invalidToken('wrong_signature', 'The signature of the token is wrong.')
  }
  return malformed()
}

const unknownKey = (): ServerError =>
  invalidToken(
    'unknown_key',
    'The token is signed with a key that is not among those of its issuer. If the issuer has just changed its keys, try again in half a minute.',
  )

function claimFault({ claim, reason }: { claim: string; reason: string }): ServerError {
  if (claim === 'aud') return invalidToken('wrong_audience', 'The token is for another audience, not for this server.')
  if (claim === 'nbf') return invalidToken('not_yet_valid', 'The token is not valid yet. Check the clocks.')
  if (reason === 'missing') return invalidToken('missing_claim', `The token lacks the claim ${claim}.`)
  return invalidToken('wrong_claim', `The claim ${claim} of the token cannot be used.`)
}
