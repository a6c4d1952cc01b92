// Decides who the caller is and whether they may use a route. Credentials come only from `Authorization: Bearer`, never from a cookie or
// a body. There are two exceptions, which `identify` looks at: an agent on this machine may have its token in the URL, and a trusted
// proxy may say in headers whom it has signed in.

import { hash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../domain/clock.ts'
import { type ErrorCode, ServerError } from '../../domain/errors.ts'
import { LOCAL_USER } from '../../domain/session/session.ts'
import type { SharedCounts } from '../../replicas/shared-counts.ts'
import type { AgentPrincipal, Principal, Role } from '../route.ts'
import { type Identity, invalidToken, type TokenFault } from './identity/identity.ts'
import type { Oidc } from './identity/oidc.ts'
import type { Token } from './tokens/token.ts'
import { createWindowCounter } from './usage-limits.ts'

export interface Auth {
  /**
   * Throws `unauthorized`, `forbidden` or `rate_limited`. On a public route a wrong credential counts as none. With `isLocal: false` the
   * caller may be on another machine and needs a token, unless `insecure` is set. With `needsToken` every caller needs one: the local
   * socket is also open to agents of the same OS user. `proxied`: whom a trusted proxy names. A promise only for a token of an identity
   * provider that was not seen before.
   */
  authenticate(authorization: string | undefined, address: string, role: Role, from?: From): Access | Promise<Access>
  /** Who was refused with this error, although their credential is valid. Null: nobody knows. */
  whoWas(error: object): Principal | null
}

interface From {
  isLocal: boolean
  needsToken?: boolean
  /** Clients of this route must send some key, so where no token is needed any key will do. */
  takesAnyKey?: boolean
  proxied?: Identity | null
}

export interface Access {
  principal: Principal
  /** False once the credential is revoked, has ended or has another role. */
  isValid(): boolean
}

export interface AuthOptions {
  /** The current tokens. Returns a new array only after a change. */
  tokens: () => readonly Token[]
  /** Browsers that are signed in. Their tokens count beside the others. */
  devices: { current(): readonly Token[]; used(id: string): void }
  /** Checks tokens of identity providers. Null: none count. */
  oidc: Oidc | null
  /** Whether two names are of the same person. */
  isSamePerson: (one: string, other: string) => boolean
  /** True if other machines can reach the server. False: talking needs no token. Deciding always needs one. */
  tokenRequired: boolean
  /** Everybody may talk without a token, from any machine. */
  insecure: boolean
  clock: Clock
  failuresPerMinute: number
  /** Looks for tokens that were made elsewhere just now. Called before a token counts as unknown. Null: nobody else makes any. */
  lookAgain: (() => Promise<void>) | null
  /** False: tokens may have been revoked elsewhere, so `lookAgain` is called before one counts. */
  isFresh: () => boolean
  /** Of failed logins. */
  counts: Pick<SharedCounts, 'add'>
}

const LOCAL: Access = { principal: { owner: LOCAL_USER, role: 'user', hasToken: false }, isValid: () => true }
const NOBODY: Access = { principal: { owner: LOCAL_USER, role: 'public', hasToken: false }, isValid: () => true }

export function createAuth({
  tokens: ownTokens,
  devices,
  oidc,
  isSamePerson,
  tokenRequired,
  insecure,
  clock,
  failuresPerMinute,
  lookAgain,
  isFresh,
  counts,
}: AuthOptions): Auth {
  const failures = createWindowCounter({
    kind: 'failed logins',
    limit: failuresPerMinute,
    windowMs: 60_000,
    clock,
    counts,
  })
  const tokens = joinTokens(ownTokens, devices.current)
  const findToken = createTokenFinder(tokens)
  const refused = new WeakMap<object, Principal>()

  /** Throws `forbidden`. On a public route the error makes the caller a stranger: an agent learns no more there than anybody else. */
  function checkRole(principal: Principal, role: Role): void {
    const error = otherRole(principal.role, role)
    if (error === null) return
    refused.set(error, principal)
    throw error
  }

  function check(authorization: string, address: string, role: Role, isLast = false): Access | Promise<Access> {
    const presented = /^bearer +(\S+)$/i.exec(authorization)?.[1]
    const token = presented === undefined ? undefined : findToken(presented)
    if (token === undefined && presented !== undefined && oidc !== null) {
      const identity = identityOf(oidc, presented, address)
      if (identity instanceof Promise) return identity.then((known) => identified(known, role))
      if (identity !== null) return identified(identity, role)
    }
    const wait = failures.waitFor(address)
    // A look costs a query, so whoever keeps sending wrong tokens gets none. Tokens from settings are nobody's to revoke.
    const needsLook = token === undefined ? isUnguessable(presented) && wait === null : token.id !== null && !isFresh()
    if (needsLook && lookAgain !== null && !isLast)
      return lookAgain().then(() => check(authorization, address, role, true))
    // Behind a proxy all callers share one address. So a valid token that nobody can guess passes while others wait.
    if (wait !== null && !(token !== undefined && isUnguessable(presented))) throw tooManyFailures(wait)
    if (token === undefined) {
      failures.hit(address)
      throw wrongToken(tokenRequired || role === 'operator' || role === 'agent')
    }
    const endsAt = token.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(token.expires_at)
    if (clock.now() >= endsAt) throw endedToken(token)
    const principal = principalOf(token)
    checkRole(principal, role)
    if (token.isConsole && token.id !== null) devices.used(token.id)
    return {
      principal,
      isValid: () => clock.now() < endsAt && tokens().some((other) => isSame(other, token)),
    }
  }

  function identified(identity: Identity, role: Role): Access {
    const access = identityAccess(identity, clock)
    checkRole(access.principal, role)
    return access
  }

  /** Null: it is not a token of a provider. A token that somebody made up counts as a failed login, one that has ended does not. */
  function identityOf(providers: Oidc, presented: string, address: string): Identity | Promise<Identity> | null {
    const failed = (error: unknown): never => {
      if (!(error instanceof ServerError) || !madeUp.has(String(error.details.reason))) throw error
      const wait = failures.waitFor(address)
      if (wait !== null) throw tooManyFailures(wait)
      failures.hit(address)
      throw error
    }
    return orElse(() => providers.check(presented), failed)
  }

  /** The proxy and the token may both be there, but only if they mean the same person. Otherwise nobody could say who did something. */
  function refuseOtherPerson(access: Access, { user }: Identity): Access {
    if (isSamePerson(access.principal.owner, user)) return access
    throw invalidToken(
      'two_identities',
      `The proxy says that you are ${user}, and the token is of somebody else. Send one of the two.`,
    )
  }

  function known(
    authorization: string,
    address: string,
    role: Role,
    proxied: Identity | null,
  ): Access | Promise<Access> {
    const access = check(authorization, address, role)
    if (proxied === null) return access
    return access instanceof Promise
      ? access.then((one) => refuseOtherPerson(one, proxied))
      : refuseOtherPerson(access, proxied)
  }

  /**
   * A key that is none of ours counts as no key. One that looks like ours has been revoked, and is refused as everywhere. Whoever
   * guesses too often is told nothing more, but does not lock anybody out elsewhere.
   */
  function knownOrLocal(authorization: string, address: string): Access | Promise<Access> {
    const orLocal = (error: unknown): Access => {
      const isUnknown =
        error instanceof ServerError && UNKNOWN_KEY.includes(error.code) && error.details.reason === undefined
      if (!isUnknown || LOOKS_LIKE_OURS.test(authorization)) throw error
      return LOCAL
    }
    return orElse(() => check(authorization, `a key from ${address}`, 'user'), orLocal)
  }

  return {
    whoWas: (error) => refused.get(error) ?? null,
    authenticate(given, address, role, from = { isLocal: true }) {
      const { isLocal, needsToken = false, takesAnyKey = false, proxied = null } = from
      const asksForToken = tokenRequired || needsToken || !(isLocal || insecure)
      // OpenAI's clients must send a key, so people without one write `none`.
      const authorization = given !== undefined && /^bearer +none$/i.test(given) ? undefined : given
      if (authorization === undefined) {
        if (proxied !== null) return identified(proxied, role)
        if (role !== 'operator' && role !== 'agent' && !asksForToken) return LOCAL
        if (role === 'public') return NOBODY
        throw missingToken(role)
      }
      if (role === 'user' && takesAnyKey && !asksForToken && proxied === null)
        return knownOrLocal(authorization, address)
      const find = () => known(authorization, address, role, proxied)
      return role === 'public' ? orElse(find, () => NOBODY) : find()
    },
  }
}

/** What `work` gives, also later, and what `recover` makes of its failure. Waits for nothing where `work` does not. */
function orElse<Now, Later>(
  work: () => Now | Promise<Later>,
  recover: (error: unknown) => Now & Later,
): Now | Promise<Later> {
  try {
    const done = work()
    return done instanceof Promise ? done.catch(recover) : done
  } catch (error) {
    return recover(error)
  }
}

const UNKNOWN_KEY: readonly ErrorCode[] = ['unauthorized', 'rate_limited']
const LOOKS_LIKE_OURS = /^bearer +qd_/i

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

/** Nobody with a real token gets there. */
const madeUp: ReadonlySet<string> = new Set<TokenFault>([
  'malformed',
  'encrypted',
  'unknown_issuer',
  'unknown_key',
  'wrong_algorithm',
  'wrong_signature',
])

function identityAccess(identity: Identity, clock: Clock): Access {
  const { user, groups, isAdmin, email, source, isBrowser, endsAt } = identity
  return {
    principal: {
      owner: user,
      role: identity.role,
      hasToken: true,
      groups,
      source,
      isAdmin: isAdmin || undefined,
      email: email ?? undefined,
      isConsole: (isBrowser && identity.role === 'operator') || undefined,
    },
    isValid: () => clock.now() < endsAt,
  }
}

/** What a route says to a role that it is not for. Null: it is for this one. */
function otherRole(own: Role, role: Role): ServerError | null {
  if (own === 'agent') {
    if (role === 'agent') return null
    return new ServerError(
      'forbidden',
      "An agent's token works only at /mcp and /hooks. It can ask and report, but it cannot talk, read or decide here.",
    )
  }
  if (role === 'agent') {
    return new ServerError(
      'forbidden',
      `This route needs an agent's token; the token you sent is ${own === 'user' ? "a user's" : "an operator's"}. ` +
        'Run `quarterdeck tokens create --role agent --workspace <folder>`.',
    )
  }
  if (role === 'operator' && own !== 'operator') {
    return new ServerError('forbidden', "This route needs the operator's token; the token you sent is a user's.")
  }
  return null
}

function principalOf(token: Token): Principal | AgentPrincipal {
  const { id, user, role, workspace, channel, isConsole, scopes, agent, expires_at } = token
  if (role !== 'agent') {
    const expiresAt = expires_at === undefined ? undefined : Date.parse(expires_at)
    return { owner: user, role, hasToken: true, tokenId: id ?? undefined, isConsole, scopes, agent, expiresAt }
  }
  if (id === null || workspace === undefined) throw new Error('an agent’s token has an id and a workspace')
  return { owner: user, role, hasToken: true, tokenId: id, workspace, channel }
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

function endedToken({ expires_at = '' }: Token): ServerError {
  return invalidToken('expired', `This token ended at ${expires_at}. Make a new one: quarterdeck tokens create`)
}

function tooManyFailures(seconds: number): ServerError {
  return new ServerError('rate_limited', `Too many failed logins from this address; try again in ${seconds} s.`, {
    details: { retry_after_seconds: seconds },
  })
}
