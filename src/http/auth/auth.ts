// Who asks, and may they? The only reader of credentials: `Authorization: Bearer`, never a query, a cookie or a body.

import { hash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { LOCAL_USER } from '../../domain/session.ts'
import type { Principal, Role } from '../route.ts'
import type { Token } from './tokens/token.ts'
import { createWindowCounter } from './window-counter.ts'

export interface Auth {
  /**
   * Throws `unauthorized`, `forbidden` or `rate_limited`. On a public route a bad credential counts as none. `isLocal: false`: the
   * caller may be on another machine, and then only `insecure` lets it in without a token.
   */
  authenticate(authorization: string | undefined, address: string, role: Role, from?: { isLocal: boolean }): Access
}

export interface Access {
  principal: Principal
  /** False once the credential has been revoked or its role changed. */
  isValid(): boolean
}

export interface AuthOptions {
  /** The current table; a new array when it has changed, the same one otherwise. */
  tokens: () => readonly Token[]
  /** True beyond loopback. False: talking needs no token. Deciding needs one in any case. */
  tokenRequired: boolean
  /** Everybody may talk without one, from wherever. */
  insecure?: boolean
  clock: Clock
  failuresPerMinute?: number
}

const LOCAL: Access = { principal: { owner: LOCAL_USER, role: 'user', hasToken: false }, isValid: () => true }
const NOBODY: Access = { principal: { owner: LOCAL_USER, role: 'public', hasToken: false }, isValid: () => true }

export function createAuth({
  tokens,
  tokenRequired,
  insecure = false,
  clock,
  failuresPerMinute = 10,
}: AuthOptions): Auth {
  const failures = createWindowCounter({ limit: failuresPerMinute, windowMs: 60_000, clock })
  const find = createTokenFinder(tokens)

  function check(authorization: string, address: string, role: Role): Access {
    const presented = /^bearer +(\S+)$/i.exec(authorization)?.[1]
    const token = presented === undefined ? undefined : find(presented)
    const wait = failures.waitFor(address)
    // Behind a proxy all callers share one address. A token that nobody can guess therefore passes while others wait.
    if (wait !== null && !(token !== undefined && isUnguessable(presented))) throw tooManyFailures(wait)
    if (token === undefined) {
      failures.hit(address)
      throw wrongToken(tokenRequired || role === 'operator')
    }
    if (role === 'operator' && token.role !== 'operator') {
      throw new ServerError('forbidden', "This route needs the operator's token; the one sent is a user's.")
    }
    return {
      principal: { owner: token.user, role: token.role, hasToken: true },
      isValid: () => tokens().some((other) => isSame(other, token)),
    }
  }

  return {
    authenticate(given, address, role, { isLocal } = { isLocal: true }) {
      const asksForToken = tokenRequired || !(isLocal || insecure)
      // OpenAI's clients cannot leave the key out; `none` is how people write that there is none.
      const authorization = given !== undefined && /^bearer +none$/i.test(given) ? undefined : given
      if (authorization === undefined) {
        if (role !== 'operator' && !asksForToken) return LOCAL
        if (role === 'public') return NOBODY
        throw missingToken(role)
      }
      if (role !== 'public') return check(authorization, address, role)
      try {
        return check(authorization, address, role)
      } catch {
        return NOBODY
      }
    },
  }
}

/** Compares digests, all of them, in constant time: neither length nor position of a match can be measured. */
function createTokenFinder(tokens: () => readonly Token[]): (presented: string) => Token | undefined {
  let table: readonly Token[] = []
  let digests: Buffer[] = []
  return (presented) => {
    const current = tokens()
    if (current !== table) {
      table = current
      digests = current.map((token) => Buffer.from(token.sha256, 'hex'))
    }
    const digest = sha256(presented)
    let found: Token | undefined
    for (const [i, candidate] of digests.entries()) if (timingSafeEqual(candidate, digest)) found = table[i]
    return found
  }
}

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer')

const isUnguessable = (token: string | undefined): boolean => token !== undefined && token.length >= 32

const isSame = (a: Token, b: Token): boolean => a.sha256 === b.sha256 && a.user === b.user && a.role === b.role

function missingToken(role: Role): ServerError {
  const whose = role === 'operator' ? "the operator's token" : 'a token'
  return new ServerError('unauthorized', `This route needs ${whose}: send "Authorization: Bearer <token>".`)
}

function wrongToken(needed: boolean): ServerError {
  const advice = needed
    ? 'Send the token of this server.'
    : 'Send the token of this server, or no Authorization at all.'
  return new ServerError('unauthorized', `The Authorization header holds no valid bearer token. ${advice}`)
}

function tooManyFailures(seconds: number): ServerError {
  return new ServerError('rate_limited', `Too many failed logins from this address; try again in ${seconds} s.`, {
    details: { retry_after_seconds: seconds },
  })
}
