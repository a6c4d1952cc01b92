// Decides who the caller is and whether they may use a route. Credentials come only from `Authorization: Bearer`, never from a cookie or
// a body. The one exception is an agent on this machine, whose token may stand in the URL; the dispatch hands it over as a header.

import { hash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { LOCAL_USER } from '../../domain/session.ts'
import type { AgentPrincipal, Principal, Role } from '../route.ts'
import type { Token } from './tokens/token.ts'
import { createWindowCounter } from './usage-limits.ts'

export interface Auth {
  /**
   * Throws `unauthorized`, `forbidden` or `rate_limited`. On a public route a wrong credential counts as none. With `isLocal: false` the
   * caller may be on another machine and needs a token, unless `insecure` is set. With `needsToken` every caller needs one: the local
   * socket is also open to agents of the same OS user.
   */
  authenticate(
    authorization: string | undefined,
    address: string,
    role: Role,
    from?: { isLocal: boolean; needsToken?: boolean },
  ): Access
}

export interface Access {
  principal: Principal
  /** False once the credential is revoked or its role has changed. */
  isValid(): boolean
}

export interface AuthOptions {
  /** The current tokens. Returns a new array only after a change. */
  tokens: () => readonly Token[]
  /** Browsers that are signed in. Their tokens count beside the others. */
  devices?: { current(): readonly Token[]; used(id: string): void }
  /** True if other machines can reach the server. False: talking needs no token. Deciding always needs one. */
  tokenRequired: boolean
  /** Everybody may talk without a token, from any machine. */
  insecure?: boolean
  /** Who an agent without a token is. Only for conformance tests, which send none. */
  agentWithoutToken?: AgentPrincipal
  clock: Clock
  failuresPerMinute?: number
}

const LOCAL: Access = { principal: { owner: LOCAL_USER, role: 'user', hasToken: false }, isValid: () => true }
const NOBODY: Access = { principal: { owner: LOCAL_USER, role: 'public', hasToken: false }, isValid: () => true }

export function createAuth({
  tokens: ownTokens,
  devices,
  tokenRequired,
  insecure = false,
  agentWithoutToken,
  clock,
  failuresPerMinute = 10,
}: AuthOptions): Auth {
  const failures = createWindowCounter({ limit: failuresPerMinute, windowMs: 60_000, clock })
  const tokens = devices === undefined ? ownTokens : joinTokens(ownTokens, devices.current)
  const find = createTokenFinder(tokens)

  function check(authorization: string, address: string, role: Role): Access {
    const presented = /^bearer +(\S+)$/i.exec(authorization)?.[1]
    const token = presented === undefined ? undefined : find(presented)
    const wait = failures.waitFor(address)
    // Behind a proxy all callers share one address. So a valid token that nobody can guess passes while others wait.
    if (wait !== null && !(token !== undefined && isUnguessable(presented))) throw tooManyFailures(wait)
    if (token === undefined) {
      failures.hit(address)
      throw wrongToken(tokenRequired || role === 'operator' || role === 'agent')
    }
    refuseOtherRole(token, role)
    if (token.isConsole && token.id !== null) devices?.used(token.id)
    return {
      principal: principalOf(token),
      isValid: () => tokens().some((other) => isSame(other, token)),
    }
  }

  return {
    authenticate(given, address, role, { isLocal, needsToken = false } = { isLocal: true }) {
      const asksForToken = tokenRequired || needsToken || !(isLocal || insecure)
      // OpenAI's clients must send a key, so people without one write `none`.
      const authorization = given !== undefined && /^bearer +none$/i.test(given) ? undefined : given
      if (authorization === undefined) {
        if (role === 'agent' && isLocal && !tokenRequired && agentWithoutToken !== undefined) {
          return { principal: agentWithoutToken, isValid: () => true }
        }
        if (role !== 'operator' && role !== 'agent' && !asksForToken) return LOCAL
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

/** Both lists as one, which is new only after a change. */
function joinTokens(one: () => readonly Token[], other: () => readonly Token[]): () => readonly Token[] {
  let joined = { left: one(), right: other(), tokens: [...one(), ...other()] }
  return () => {
    const [left, right] = [one(), other()]
    if (left !== joined.left || right !== joined.right) joined = { left, right, tokens: [...left, ...right] }
    return joined.tokens
  }
}

/** Compares with all digests in constant time, so that neither length nor position of a match can be measured. */
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

const isSame = (a: Token, b: Token): boolean =>
  a.sha256 === b.sha256 && a.user === b.user && a.role === b.role && a.workspace === b.workspace

/** On a public route the error makes the caller a stranger: an agent learns no more there than anybody else. */
function refuseOtherRole(token: Token, role: Role): void {
  if (token.role === 'agent') {
    if (role === 'agent') return
    throw new ServerError(
      'forbidden',
      "An agent's token works only at /mcp and /hooks. It can ask and report, but it cannot talk, read or decide here.",
    )
  }
  if (role === 'agent') {
    throw new ServerError(
      'forbidden',
      `This route needs an agent's token; the token you sent is ${token.role === 'user' ? "a user's" : "an operator's"}. ` +
        'Run `quarterdeck tokens create --role agent --workspace <folder>`.',
    )
  }
  if (role === 'operator' && token.role !== 'operator') {
    throw new ServerError('forbidden', "This route needs the operator's token; the token you sent is a user's.")
  }
}

function principalOf({ id, user, role, workspace, channel, isConsole }: Token): Principal | AgentPrincipal {
  if (role !== 'agent') {
    const known = { ...(id === null ? {} : { tokenId: id }), ...(isConsole ? { isConsole } : {}) }
    return { owner: user, role, hasToken: true, ...known }
  }
  if (id === null || workspace === undefined) throw new Error('an agent’s token has an id and a workspace')
  const bound = { tokenId: id, workspace, ...(channel === undefined ? {} : { channel }) }
  return { owner: user, role, hasToken: true, ...bound }
}

const whose: Readonly<Record<Role, string>> = {
  public: 'a token',
  user: 'a token',
  operator: "the operator's token",
  agent: "an agent's token",
}

function missingToken(role: Role): ServerError {
  return new ServerError('unauthorized', `This route needs ${whose[role]}: send "Authorization: Bearer <token>".`)
}

function wrongToken(needed: boolean): ServerError {
  const advice = needed ? 'Send a token of this server.' : 'Send a token of this server, or no Authorization header.'
  return new ServerError('unauthorized', `The Authorization header has no valid bearer token. ${advice}`)
}

function tooManyFailures(seconds: number): ServerError {
  return new ServerError('rate_limited', `Too many failed logins from this address; try again in ${seconds} s.`, {
    details: { retry_after_seconds: seconds },
  })
}
