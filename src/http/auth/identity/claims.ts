// What the claims of a checked token say about a person.

import { isRecord } from '../../../domain/is-record.ts'
import type { IssuerSettings } from '../../../domain/settings/identity-settings.ts'
import { remoteUser } from '../../../domain/supervision/user-name.ts'
import { type Identity, invalidToken, type RoleOf } from './identity.ts'

type Claims = Readonly<Record<string, unknown>>

/** Throws `unauthorized`, and `forbidden` for people who have no role here. */
export function personOfClaims(
  claims: Claims,
  issuer: Pick<IssuerSettings, 'name' | 'claims' | 'required' | 'assumeVerifiedEmail'>,
  roleOf: RoleOf,
): Omit<Identity, 'endsAt'> {
  for (const [name, allowed] of Object.entries(issuer.required)) {
    if (!textsOf(claimAt(claims, name)).some((value) => allowed.includes(value))) {
      throw invalidToken('wrong_claim', `The token lacks the claim ${name}, or has another value there.`)
    }
  }
  const user = userOf(claims, issuer)
  const groups = [
    ...new Set([
      ...textsOf(claimAt(claims, issuer.claims.groups)),
      ...(issuer.claims.role === null ? [] : textsOf(claimAt(claims, issuer.claims.role))),
    ]),
  ]
  const email = isVerified(claims, issuer) && typeof claims.email === 'string' ? claims.email.slice(0, 254) : null
  return { user, ...roleOf(user, groups), groups, email, source: 'oidc', isBrowser: false }
}

function userOf(claims: Claims, issuer: Pick<IssuerSettings, 'name' | 'claims' | 'assumeVerifiedEmail'>): string {
  const {
    name: provider,
    claims: { user: name },
  } = issuer
  const value = claimAt(claims, name)
  if (typeof value !== 'string' || value === '') {
    throw invalidToken('missing_claim', `The token lacks the claim ${name}, which names its user.`)
  }
  // Some issuers let people write any address there.
  if (name === 'email' && !isVerified(claims, issuer)) {
    throw invalidToken(
      'unverified_email',
      'The token names its user by an email address and does not say that it was verified (email_verified).',
    )
  }
  const user = remoteUser(provider, value)
  if (user !== null) return user
  throw invalidToken(
    'unusable_name',
    `The claim ${name} is not a name that this server can use. It has 1 to 128 letters and digits of ASCII, and . _ @ + | / = ~ : -.`,
  )
}

/** A token that says nothing about its address does not say that it was verified. Some issuers send the word in place of the value. */
const isVerified = (
  { email_verified: verified }: Claims,
  { assumeVerifiedEmail }: Pick<IssuerSettings, 'assumeVerifiedEmail'>,
): boolean => verified === true || verified === 'true' || (verified === undefined && assumeVerifiedEmail)

/** The claim of this name, or at this path. Only own keys count: names come from a file, but claims from a stranger. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let found: unknown = claims
  for (const key of name.split('.')) {
    if (!isRecord(found) || !Object.hasOwn(found, key)) return undefined
    found = found[key]
  }
  return found
}

/** One value or a list of them. */
function textsOf(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  return values.flatMap((one) =>
    typeof one === 'string' ? one : typeof one === 'number' || typeof one === 'boolean' ? String(one) : [],
  )
}
